// Trying out where it is drawn: the plan lights the path and shows what each activity
// would be given, with pinned data and without any effect.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "./quiet";
import { DesignerPage, draftOf, openText, workflow } from "./designer-page";

const text = workflow(`
- id: look_up
  type: http
  inputs: {url: "https://127.0.0.1:9/\${{ inputs.id }}"}
- id: decide
  type: switch
  needs: [look_up]
  switch:
    cases:
      - {name: large, when: activities.look_up.outputs.body.total > 100}
    default: small
- id: tell
  type: set
  needs: [decide.large]
  outputs: {words: '"big: " + string(activities.look_up.outputs.body.total)'}
- id: note
  type: set
  needs: [decide.small]
  outputs: {words: '"small"'}
`, "  input:\n    type: object\n    required: [id]\n    properties:\n      id: {type: string}\n");

test("a plan stops where data is missing, and with pinned data lights the path", async ({ page, expectNoise }) => {
  expectNoise(/422/); // the empty input does not fit
  const name = await openText(page, text);
  const designer = new DesignerPage(page);
  const before = await draftOf(page, name);
  await page.getByRole("button", { name: "Try out" }).click();
  const panel = page.getByRole("region", { name: "Try out" });
  await panel.getByLabel("Input (YAML)").fill("id: A7");
  await expect(panel).toContainText("something has to be pinned");
  await designer.fit();
  await expect(designer.node("look_up")).toHaveAttribute("data-state", "waiting");
  await designer.card("look_up").click();
  await expect(page.getByLabel("Resolved inputs")).toContainText("https://127.0.0.1:9/A7");
  await page.getByLabel("Pinned: what it gives (YAML)").fill("status: 200\nheaders: {}\nbody: {total: 250}");
  await expect(panel).toContainText("would end as completed");
  await expect(designer.node("tell")).toHaveAttribute("data-state", "completed");
  await expect(designer.node("note")).toHaveAttribute("data-state", "skipped");
  await expect(page.locator('.gv-edge[data-edge="decide.large->tell"]')).toHaveAttribute("data-flow", "passed");
  await expect(page.locator('.gv-edge[data-edge="decide.small->note"]')).toHaveAttribute("data-flow", "dead");
  await page.screenshot({ path: "shots/designer-try-out.png" });

  // Only up to one activity, and again after a reload: the pins are kept, the draft is not touched.
  await designer.card("decide").click();
  await panel.getByRole("button", { name: "Plan to the selected activity" }).click();
  await expect(designer.node("tell")).not.toHaveAttribute("data-state", "completed");
  await page.reload();
  await page.getByRole("button", { name: "Try out" }).click();
  await expect(panel).toContainText("would end as completed");
  expect(await draftOf(page, name)).toBe(before);
  await panel.getByRole("button", { name: "Close" }).click();
  await expect(designer.node("tell")).not.toHaveAttribute("data-state", /./);
});

test("one activity runs for real when asked twice, and its answer can be pinned", async ({ page }) => {
  const calls: string[] = [];
  const shop = createServer((request, answer) => {
    calls.push(`${request.method} ${request.url}`);
    answer.setHeader("Content-Type", "application/json");
    answer.end(JSON.stringify({ total: 250 }));
  });
  await new Promise<void>((ready) => shop.listen(0, "127.0.0.1", ready));
  const address = `127.0.0.1:${(shop.address() as AddressInfo).port}`;
  try {
    const name = await openText(page, (named) => text(named).replace("https://127.0.0.1:9", `http://${address}`).replace("required: [id]", "required: []"));
    const designer = new DesignerPage(page);
    const before = await draftOf(page, name);
    await page.getByRole("button", { name: "Try out" }).click();
    const panel = page.getByRole("region", { name: "Try out" });
    await panel.getByLabel("Input (YAML)").fill("id: A7");
    await expect(panel).toContainText("something has to be pinned");
    await designer.fit();
    await designer.card("look_up").click();
    const real = page.getByRole("group", { name: "Run for real" });
    await real.getByRole("button", { name: "Run it for real …" }).click();
    await expect(real).toContainText(`It calls GET http://${address}/A7.`);
    await real.getByRole("button", { name: "Leave it" }).press("Enter");
    expect(calls).toEqual([]);
    await real.getByRole("button", { name: "Run it for real …" }).press("Enter");
    await real.getByRole("button", { name: "Run it now" }).click();
    await expect(real).toContainText("Ran for real: completed");
    expect(calls).toEqual(["GET /A7"]);
    await expect(page.getByLabel("What it gave")).toContainText("total: 250");
    await page.screenshot({ path: "shots/designer-real-run.png" });
    await real.getByRole("button", { name: "Pin this answer" }).click();
    await expect(page.getByLabel("Pinned: what it gives (YAML)")).toHaveValue(/total: 250/);
    await expect(panel).toContainText("would end as completed");
    // What the engine does by itself has nothing to run.
    await designer.card("decide").click();
    await expect(real).toBeHidden();
    expect(await draftOf(page, name)).toBe(before);
    expect(calls).toEqual(["GET /A7"]);
  } finally {
    shop.close();
  }
});

test("an expression shows what it gives, on a past execution and on pinned data", async ({ page }) => {
  const name = await openText(page, workflow(`
- id: load
  type: set
  outputs: {total: inputs.amount * 2, card: inputs.card}
- id: tell
  type: set
  needs: [load]
  when: activities.load.outputs.total > 100
  outputs: {words: '"total"'}
`, "  input: {type: object, properties: {amount: {type: integer, default: 60}, card: {type: string, x-sensitive: true, default: 4111-1111}}}\n"));
  const headers = { Authorization: `Bearer ${process.env.E2E_TOKEN}` };
  expect((await page.request.post(`/api/v1/workflows/${name}/publish`, { headers, data: { message: "" } })).status()).toBe(201);
  const started = await (await page.request.post(`/api/v1/workflows/${name}/executions`, { headers, data: { input: {} } })).json();
  await expect.poll(async () => (await (await page.request.get(`/api/v1/executions/${started.id}`, { headers })).json()).status).toBe("completed");
  await page.reload();
  const designer = new DesignerPage(page);
  await designer.card("tell").click();
  await designer.field("when").click();
  const preview = page.locator(".ds-preview output");
  await expect(preview).toHaveText("= true");
  await designer.field("when").fill("activities.load.outputs.total + 1");
  await expect(preview).toHaveText("= 121");
  await designer.field("when").fill("activities.load.outputs.card");
  await expect(preview).toHaveText('= "***"');
  await designer.field("when").fill("activities.load.outputs.total + ");
  await expect(preview).toContainText("1:");
  await page.screenshot({ path: "shots/designer-preview.png" });
  await designer.field("when").fill("activities.load.outputs.total > 100");

  // On pinned data, after it was pinned in the panel.
  await page.getByRole("button", { name: "Try out" }).click();
  await page.getByRole("region", { name: "Try out" }).getByLabel("Input (YAML)").fill("amount: 5");
  await designer.field("when").click();
  await page.getByLabel("Preview with").selectOption("pinned data");
  await expect(preview).toHaveText("= false");
  await page.getByLabel("Preview with").selectOption("no preview");
  await expect(preview).toBeHidden();
  await designer.saved();
});
