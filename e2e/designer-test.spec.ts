// Trying out where it is drawn: the plan lights the path and shows what each activity
// would be given, with pinned data and without any effect.
import { expect, test } from "./quiet";
import { DesignerPage, draftOf, openText, workflow } from "./designer-page";
import { service } from "./service";

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

test("a plan stops where data is missing, and with pinned data lights the path", async ({ page }) => {
  const name = await openText(page, text);
  const designer = new DesignerPage(page);
  const before = await draftOf(page, name);
  await page.getByRole("button", { name: "Try out" }).click();
  const panel = page.getByRole("region", { name: "Try out" });
  await expect(panel).toContainText("Fill in the input, then plan");
  await expect(panel.locator(".ds-problem")).toHaveCount(0); // nobody has done anything yet
  await expect(panel.getByRole("button", { name: "Unpin all" })).toBeHidden();
  await panel.getByRole("button", { name: "Plan", exact: true }).click();
  await expect(panel).toContainText("The input is not complete");
  await expect(panel.locator(".field-error")).toHaveText("Fill this in");
  await panel.getByLabel("Id").fill("A7");
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
  await panel.getByRole("button", { name: "Plan to decide" }).click();
  await expect(designer.node("tell")).not.toHaveAttribute("data-state", "completed");
  await page.reload();
  await page.getByRole("button", { name: "Try out" }).click();
  await expect(panel).toContainText("would end as completed");
  expect(await draftOf(page, name)).toBe(before);
  await panel.getByRole("button", { name: "Close" }).click();
  await expect(designer.node("tell")).not.toHaveAttribute("data-state", /./);
});

test("one activity runs for real, asked twice where it changes something, and its answer can be pinned", async ({ page }) => {
  const { address, calls, close } = await service({ total: 250 });
  try {
    const name = await openText(page, (named) => text(named).replace('{url: "https://127.0.0.1:9', `{method: POST, url: "http://${address}`));
    const designer = new DesignerPage(page);
    const before = await draftOf(page, name);
    await page.getByRole("button", { name: "Try out" }).click();
    const panel = page.getByRole("region", { name: "Try out" });
    const real = page.getByRole("group", { name: "Run for real" });
    await expect(real).toContainText("it is really called, once"); // what it would do is said before anything is chosen
    await panel.getByLabel("Id").fill("A7");
    await expect(panel).toContainText("something has to be pinned");
    await designer.fit();
    await designer.card("look_up").click();
    await real.getByRole("button", { name: "Run look_up …" }).click();
    await expect(real).toContainText(`It calls POST http://${address}/A7.`);
    await real.getByRole("button", { name: "Leave it" }).press("Enter");
    expect(calls).toEqual([]);
    await real.getByRole("button", { name: "Run look_up …" }).press("Enter");
    await real.getByRole("button", { name: "Run it now" }).click();
    await expect(real).toContainText("Ran for real: completed");
    expect(calls).toEqual(["POST /A7"]);
    await expect(page.getByLabel("What it gave")).toContainText("total: 250");
    await page.screenshot({ path: "shots/designer-real-run.png" });
    await real.getByRole("button", { name: "Pin this answer" }).click();
    await expect(page.getByLabel("Pinned: what it gives (YAML)")).toHaveValue(/total: 250/);
    await expect(panel).toContainText("would end as completed");
    // What the engine does by itself has nothing to run, but what leads to it has.
    await designer.card("decide").click();
    await expect(real).toContainText("The engine does it by itself");
    await expect(real.getByRole("button", { name: "Run decide" })).toBeDisabled();
    expect(await draftOf(page, name)).toBe(before);
    expect(calls).toEqual(["POST /A7"]);
    // What only reads is not asked twice, and a failure says what could be done.
    await designer.card("look_up").click();
    await designer.field("inputs.method").selectOption("GET");
    await designer.field("inputs.url").fill("http://127.0.0.1:9/${{ inputs.id }}");
    await expect(page.getByLabel("Resolved inputs")).toContainText("http://127.0.0.1:9/A7");
    await designer.card("decide").click();
    await designer.card("look_up").click();
    await real.getByRole("button", { name: "Run look_up", exact: true }).click();
    await expect(real).toContainText("transport.connect");
    await expect(real).toContainText("check host and port");
  } finally {
    close();
  }
});

test("the input of a try is the form of a start: files, order, sensitive fields, and YAML for who prefers it", async ({ page }) => {
  await openText(page, workflow(`
- id: tell
  type: set
  outputs: {words: inputs.paper.name + inputs.word}
`, "  input:\n    type: object\n    required: [paper, word]\n    properties:\n      word: {type: string, examples: [yes please]}\n      paper: {type: object, x-file: true}\n      code: {type: string, x-sensitive: true}\n"));
  const designer = new DesignerPage(page);
  await designer.card("tell").click();
  await designer.field("outputs").nth(0).or(page.locator('.ds-field[data-path="outputs"] input').nth(1)).last().click();
  await expect(page.locator(".ds-preview output")).toContainText("this workflow has never run");
  await page.getByRole("button", { name: "Try out" }).click();
  const panel = page.getByRole("region", { name: "Try out" });
  await expect(panel.getByLabel("Word")).toHaveValue("yes please");
  expect(await panel.locator(".ds-try-form .field > label").allInnerTexts()).toEqual(["Word", "Paper", expect.stringContaining("Code")]);
  await panel.getByLabel("Paper").setInputFiles({ name: "paper.txt", mimeType: "text/plain", buffer: Buffer.from("we agree") });
  await expect(panel.getByRole("link", { name: "paper.txt" })).toBeVisible();
  await expect(panel).toContainText("would end as completed");
  await expect(panel.getByLabel("Code")).toHaveAttribute("type", "password");
  await panel.getByLabel("Code").fill("4711");
  await panel.getByRole("button", { name: "Write it as YAML" }).click();
  await expect(panel.getByLabel("Input (YAML)")).toHaveValue(/word: yes please/);
  expect(await page.evaluate(() => Object.values(localStorage).join(" "))).not.toContain("4711");
  await panel.getByLabel("Input (YAML)").fill("word: again");
  await panel.getByRole("button", { name: "Fill it in as a form" }).click();
  await expect(panel.getByLabel("Word")).toHaveValue("again");
  await expect(panel.getByLabel("Paper")).toHaveValue("");
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
  await page.getByRole("region", { name: "Try out" }).getByLabel("Amount").fill("5");
  await designer.field("when").click();
  await page.getByLabel("Preview with").selectOption("data pinned in Try out");
  await expect(preview).toHaveText("= false");
  await page.getByLabel("Preview with").selectOption("no preview");
  await expect(preview).toBeHidden();
  await designer.saved();
});
