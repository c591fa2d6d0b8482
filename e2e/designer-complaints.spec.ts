// Complaints about other designers, each as a person would run into it.
import { expect, test } from "./quiet";
import { DesignerPage, draftOf, openText, workflow } from "./designer-page";

const set = (id: string, needs = "") => `- id: ${id}\n  type: set\n${needs ? `  needs: [${needs}]\n` : ""}  outputs: {value: "1"}\n`;
const three = workflow(set("one") + set("two", "one") + set("three", "two"));
const headers = { Authorization: `Bearer ${process.env.E2E_TOKEN}` };

test("hovering takes no edge away", async ({ page }) => {
  await openText(page, three);
  const designer = new DesignerPage(page);
  const edges = page.locator(".gv-edge");
  await expect(edges).toHaveCount(2);
  for (const id of ["one", "two", "three"]) {
    await designer.card(id).hover();
    await expect(edges).toHaveCount(2);
    for (const edge of await edges.all()) await expect(edge.locator(".gv-edge-line")).toHaveAttribute("d", /^M/);
  }
});

test("a key during a drag changes nothing, and the drag still ends", async ({ page }) => {
  const name = await openText(page, three);
  const designer = new DesignerPage(page);
  const before = await draftOf(page, name);
  const box = (await designer.card("one").boundingBox())!;
  await page.mouse.move(box.x + 60, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 160, box.y + 120, { steps: 5 });
  await page.keyboard.press("Delete");
  await page.keyboard.press("t");
  for (const id of ["one", "two", "three"]) await expect(designer.node(id)).toBeVisible();
  await page.keyboard.press("Escape");
  await page.mouse.up();
  await designer.saved();
  expect(await draftOf(page, name)).toBe(before);
});

test("dropping on an edge works from far out", async ({ page }) => {
  const name = await openText(page, three);
  const designer = new DesignerPage(page);
  await designer.fit();
  for (let i = 0; i < 4; i++) await page.keyboard.press("-");
  const [from, to] = [(await designer.card("one").boundingBox())!, (await designer.card("two").boundingBox())!];
  await designer.drag(designer.palette("wait"), { x: (from.x + from.width + to.x) / 2, y: from.y + from.height / 2 + 16 });
  await expect(page.locator('.gv-edge[data-edge="one.success->wait"]')).toHaveCount(1);
  await expect(page.locator('.gv-edge[data-edge="wait.success->two"]')).toHaveCount(1);
  await designer.saved();
  expect(await draftOf(page, name)).toContain("needs: [wait]");
});

test.describe("with fingers", () => {
  test.use({ hasTouch: true });

  test("a second finger ends a gesture without a trace", async ({ page, context }) => {
    const name = await openText(page, three);
    const designer = new DesignerPage(page);
    const before = await draftOf(page, name);
    const at = (await designer.port("one", "success").locator(".gv-dot").boundingBox())!;
    const cdp = await context.newCDPSession(page);
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...touchPoints: { x: number; y: number; id: number }[]) => cdp.send("Input.dispatchTouchEvent", { type, touchPoints });
    const finger = (by: number) => ({ x: at.x + at.width / 2 + by, y: at.y + at.height / 2 + by, id: 1 });
    await touch("touchStart", finger(0));
    for (const by of [20, 40, 60]) await touch("touchMove", finger(by));
    await expect(page.locator(".gv-connecting")).toHaveCount(1);
    await touch("touchStart", finger(60), { x: at.x + 200, y: at.y + 160, id: 2 });
    await touch("touchMove", finger(60), { x: at.x + 240, y: at.y + 200, id: 2 });
    await touch("touchEnd");
    await expect(page.locator(".gv-connecting")).toHaveCount(0);
    await expect(page.locator(".gv-preview")).toHaveAttribute("d", "");
    await expect(page.locator(".ds-picker")).toHaveCount(0);
    expect(await draftOf(page, name)).toBe(before);
  });
});

test("what acts is a button, what leads elsewhere is a link", async ({ page }) => {
  await openText(page, three);
  await new DesignerPage(page).card("one").click();
  const wrong = await page.evaluate(() => [...document.querySelectorAll("a, [onclick], [role=button]")]
    .filter((e) => (e.tagName === "A" ? !e.getAttribute("href") || e.getAttribute("href")!.startsWith("#!") : e.tagName !== "BUTTON")).map((e) => e.outerHTML.slice(0, 120)));
  expect(wrong).toEqual([]);
});

test("autosave writes the draft and publishes nothing; undo and redo are saved as well", async ({ page }) => {
  const name = await openText(page, three);
  const designer = new DesignerPage(page);
  const before = await draftOf(page, name);
  await designer.card("three").click();
  await designer.field("name").fill("The third");
  await designer.saved();
  const changed = await draftOf(page, name);
  expect(changed).not.toBe(before);
  await designer.card("two").click();
  await page.keyboard.press("Control+z");
  await expect.poll(() => draftOf(page, name)).toBe(before);
  await page.keyboard.press("Control+Shift+z");
  await expect.poll(() => draftOf(page, name)).toBe(changed);
  const answer = await page.request.get(`/api/v1/workflows/${name}`, { headers });
  expect((await answer.json()).publishedVersion).toBeNull();
});

test("text that looks like an expression is warned about, and a click mends it", async ({ page }) => {
  const name = await openText(page, workflow('- {id: call, type: http, inputs: {url: "http://127.0.0.1:9", body: {who: inputs.name}}}', "  input: {type: object, properties: {name: {type: string}}}\n"));
  await page.getByRole("button", { name: /1 (problem|warning|hint)/i }).click();
  await expect(page.locator(".ds-problems")).toContainText("is text here, not an expression");
  await page.locator(".ds-problems").getByRole("button", { name: /apply|write/i }).first().click();
  await new DesignerPage(page).saved();
  await expect.poll(() => draftOf(page, name)).toContain('who: "${{ inputs.name }}"');
});

test("an old version restored shows its own graph", async ({ page }) => {
  const name = await openText(page, three);
  const designer = new DesignerPage(page);
  expect((await page.request.post(`/api/v1/workflows/${name}/publish`, { headers, data: { message: "" } })).status()).toBe(201);
  await designer.card("three").click();
  await page.keyboard.press("Delete");
  await designer.saved();
  await expect(designer.node("three")).toHaveCount(0);
  expect((await page.request.post(`/api/v1/workflows/${name}/versions/1/restore`, { headers })).status()).toBe(200);
  await page.reload();
  await expect(designer.node("three")).toBeVisible();
});

test("an execution shows every activity, past ones too", async ({ page }) => {
  const name = await openText(page, workflow(`- id: ask
  type: human
  human: {title: "Go on?", candidates: {groups: [everybody]}, due: 1d}
- id: later
  type: script
  needs: [ask]
  retry: {attempts: 3}
  inputs: {language: javascript, source: "return 1"}`));
  await expect(page.locator('.gv-node[data-key="later"]')).toContainText("×3"); // how often it may be tried
  expect((await page.request.post(`/api/v1/workflows/${name}/publish`, { headers, data: { message: "" } })).status()).toBe(201);
  const started = await (await page.request.post(`/api/v1/workflows/${name}/executions`, { headers, data: { input: {} } })).json();
  await page.goto(`/executions/${started.id}`);
  await expect(page.locator('.gv-node[data-key="ask"]')).toHaveAttribute("data-state", /waiting/);
  await expect(page.locator('.gv-node[data-key="later"]')).toBeVisible();
  await expect(page.locator('.gv-node[data-key="later"]')).not.toContainText("×"); // it would read as how often it was
  await page.request.post(`/api/v1/executions/${started.id}/cancel`, { headers, data: { reason: "seen" } });
  await page.reload();
  await expect(page.locator('.gv-node[data-key="ask"]')).toHaveAttribute("data-state", "cancelled");
  await expect(page.locator('.gv-node[data-key="later"]')).toBeVisible();
});
