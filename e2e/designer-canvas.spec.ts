// The canvas beyond drawing: hooks, lining up, menus, fingers, many activities.
import { readFile } from "node:fs/promises";
import { expect, test } from "./quiet";
import { DesignerPage, draftOf, openText, workflow } from "./designer-page";

const set = (id: string, needs = "") => `- id: ${id}\n  type: set\n${needs ? `  needs: [${needs}]\n` : ""}  outputs: {value: "1"}\n`;
const three = workflow(set("one") + set("two", "one") + set("three", "one"));

test("what runs on failure and at every end is drawn in frames of their own", async ({ page }) => {
  const name = await openText(page, three);
  const designer = new DesignerPage(page);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("when it fails");
  await page.keyboard.press("Enter");
  await page.keyboard.type("set");
  await page.keyboard.press("Enter");
  await designer.fit();
  await expect(designer.node("@onError")).toContainText("When it fails");
  await expect(designer.card("set_values")).toBeVisible();
  await designer.card("set_values").click();
  await expect(page.locator(".ds-form-head h2")).toHaveText("set_values");
  await designer.saved();
  expect(await draftOf(page, name)).toMatch(/onError:\n\s+- id: set_values/);
  await page.keyboard.press("Control+Shift+g");
  await page.keyboard.press("Delete");
  await expect(designer.node("@onError")).toHaveCount(0);
  await designer.saved();
  expect(await draftOf(page, name)).not.toContain("onError");
});

test("several are lined up by one command, and one undo takes it back", async ({ page }) => {
  const name = await openText(page, three);
  const designer = new DesignerPage(page);
  const before = await draftOf(page, name);
  await designer.card("one").click();
  await designer.card("three").click({ modifiers: ["Shift"] });
  await page.keyboard.press("Alt+t");
  await designer.saved();
  const [a, b] = [await designer.card("one").boundingBox(), await designer.card("three").boundingBox()];
  expect(Math.abs(a!.y - b!.y)).toBeLessThanOrEqual(1);
  await page.keyboard.press("Control+z");
  await designer.saved();
  expect(await draftOf(page, name)).toBe(before);
});

test("a dragged activity falls in line with another, and a guide says so", async ({ page }) => {
  await openText(page, three);
  const designer = new DesignerPage(page);
  const [from, target] = [(await designer.card("three").boundingBox())!, (await designer.card("one").boundingBox())!];
  await page.mouse.move(from.x + 40, from.y + 30);
  await page.mouse.down();
  await page.mouse.move(from.x + 60, from.y + 60, { steps: 3 });
  await page.mouse.move(target.x + 44, from.y + 90, { steps: 4 });
  await expect(page.locator(".gv-guide")).toHaveAttribute("d", /M/);
  await page.mouse.up();
  await expect(page.locator(".gv-guide")).toHaveAttribute("d", "");
  expect(Math.abs((await designer.card("three").boundingBox())!.x - (await designer.card("one").boundingBox())!.x)).toBeLessThanOrEqual(1);
});

test("the menu of an activity opens by right click and by keyboard", async ({ page }) => {
  await openText(page, three);
  const designer = new DesignerPage(page);
  await designer.card("two").click({ button: "right" });
  const menu = page.getByRole("dialog", { name: "What to do with two" });
  await expect(menu).toBeVisible();
  await page.keyboard.type("dupl");
  await page.keyboard.press("Enter");
  await expect(designer.card("two_2")).toBeVisible();
  await page.keyboard.press("Control+Shift+g");
  await page.keyboard.press("Shift+F10");
  await expect(page.getByRole("dialog", { name: "What to do with two_2" })).toBeVisible();
  await page.keyboard.press("Escape");
  const stage = (await page.locator(".gv-stage").boundingBox())!;
  await page.mouse.click(stage.x + stage.width - 40, stage.y + stage.height - 40, { button: "right" });
  const canvas = page.getByRole("dialog", { name: "What to do with the canvas" });
  await expect(canvas.getByRole("option", { name: /Fit the whole graph/ })).toBeVisible();
  await expect(canvas.getByRole("option", { name: /^Duplicate/ })).toHaveCount(0);
});

test.describe("with fingers", () => {
  test.use({ hasTouch: true, viewport: { width: 390, height: 800 } });

  test("tap a port, tap what comes next; a long press opens the menu", async ({ page, context }) => {
    const name = await openText(page, workflow(set("one") + set("two")));
    const designer = new DesignerPage(page);
    await page.locator(".gv-tools button").last().tap();
    await designer.port("one", "success").locator(".gv-dot").tap();
    await designer.card("two").tap();
    await designer.saved();
    expect(await draftOf(page, name)).toContain("needs: [one]");
    const at = (await designer.card("two").boundingBox())!;
    const cdp = await context.newCDPSession(page);
    await cdp.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x: at.x + 30, y: at.y + 12 }] });
    await expect(page.getByRole("dialog", { name: "What to do with two" })).toBeVisible();
    await cdp.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] });
    await page.screenshot({ path: "shots/designer-390.png" });
  });
});

test("1,000 activities: what is far away is one drawing, and still can be chosen", async ({ page }) => {
  test.slow();
  const list = Array.from({ length: 1000 }, (_, i) => set(`n${i}`, i >= 25 ? `n${i - 25}` : "")).join("");
  await openText(page, workflow(list));
  const designer = new DesignerPage(page);
  await designer.fit();
  await expect(page.locator(".gv-overview")).toBeVisible();
  expect(await page.locator("*").count()).toBeLessThanOrEqual(8000);
  const stage = (await page.locator(".gv-stage").boundingBox())!;
  await page.mouse.dblclick(stage.x + stage.width / 2, stage.y + stage.height / 2);
  await page.keyboard.press("Control+Shift+g");
  await expect(page.locator(".gv-stage :focus")).toHaveAttribute("aria-label", /of 1000/);
});

test("what is copied is text that another workflow takes", async ({ page, context }) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  await openText(page, three);
  const designer = new DesignerPage(page);
  await designer.card("two").click();
  await page.keyboard.press("Control+c");
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('- id: two\n  type: set\n  needs: [one]\n  outputs: {value: "1"}\n');
  const name = await openText(page, workflow(set("other")));
  await designer.card("other").click();
  await page.keyboard.press("Control+v");
  await expect(designer.card("two")).toBeInViewport();
  await expect(designer.node("two")).toHaveClass(/gv-selected/);
  await designer.saved();
  expect(await draftOf(page, name)).toContain('- id: two\n      type: set\n      outputs: {value: "1"}');
  await page.keyboard.press("Control+z");
  await expect(designer.card("two")).toHaveCount(0);
});

test("the text goes to a file and activities come from one, chosen or dropped", async ({ page }) => {
  const name = await openText(page, three);
  const designer = new DesignerPage(page);
  const command = async (words: string) => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(words);
    await page.keyboard.press("Enter");
  };
  const kept = page.waitForEvent("download");
  await command("download as");
  const file = await kept;
  expect(file.suggestedFilename()).toBe(`${name}.yaml`);
  const text = await readFile(await file.path(), "utf8");
  expect(text).toBe(three(name));

  const choosing = page.waitForEvent("filechooser");
  await command("from a yaml file");
  await (await choosing).setFiles({ name: "more.yaml", mimeType: "application/yaml", buffer: Buffer.from(set("chosen")) });
  await expect(designer.node("chosen")).toHaveClass(/gv-selected/);

  await page.locator(".gv-stage").evaluate((stage, list) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File([list], "dropped.yaml"));
    for (const type of ["dragover", "drop"]) stage.dispatchEvent(new DragEvent(type, { dataTransfer, bubbles: true, cancelable: true }));
  }, set("dropped"));
  await expect(designer.node("dropped")).toHaveClass(/gv-selected/);
  await designer.saved();
  expect(await draftOf(page, name)).toMatch(/- id: chosen\n[\s\S]*- id: dropped\n/);
  await page.keyboard.press("Control+z");
  await expect(designer.card("dropped")).toHaveCount(0);
});

test("the middle button pans, and the wheel zooms at the pointer", async ({ page }) => {
  await openText(page, three);
  const designer = new DesignerPage(page);
  const before = (await designer.card("one").boundingBox())!;
  await page.mouse.move(before.x + 20, before.y + 20);
  await page.mouse.down({ button: "middle" });
  await page.mouse.move(before.x + 70, before.y + 60, { steps: 3 });
  await page.mouse.up({ button: "middle" });
  const panned = (await designer.card("one").boundingBox())!;
  expect([panned.x - before.x, panned.y - before.y]).toEqual([50, 40]);
  await page.mouse.move(panned.x, panned.y);
  await page.keyboard.down("Control");
  await page.mouse.wheel(0, -120);
  await page.keyboard.up("Control");
  const zoomed = (await designer.card("one").boundingBox())!;
  expect(zoomed.width).toBeGreaterThan(panned.width);
  expect(Math.hypot(zoomed.x - panned.x, zoomed.y - panned.y)).toBeLessThanOrEqual(1);
});

test("a note is written, moved and deleted by keyboard and by pointer, and undo takes it back", async ({ page }) => {
  const name = await openText(page, three);
  const designer = new DesignerPage(page);
  const before = await draftOf(page, name);
  await designer.card("two").click();
  await page.keyboard.press("Shift+N");
  await page.keyboard.type("Ask the bank first");
  await page.keyboard.press("Control+Enter");
  const note = page.getByRole("button", { name: "Note: Ask the bank first" });
  await expect(note).toBeFocused();
  await designer.saved();
  expect(await draftOf(page, name)).toMatch(/kind: Layout\nnotes:\n {2}- text: "?Ask the bank first"?\n {4}at: \[-?\d+, -?\d+\]\n$/);
  await page.keyboard.press("Alt+ArrowDown");
  const low = (await note.boundingBox())!;
  await page.keyboard.press("Enter");
  await page.keyboard.type("Ask the bank twice");
  await page.keyboard.press("Escape");
  const twice = page.getByRole("button", { name: "Note: Ask the bank twice" });
  await designer.drag(twice, { x: low.x + low.width / 2 + 80, y: low.y + low.height / 2 + 60 });
  expect(Math.round((await twice.boundingBox())!.x - low.x)).toBeGreaterThan(60);
  await designer.saved();
  await page.screenshot({ path: "shots/designer-note.png" });

  // It is there on the page of the workflow too, and after a reload.
  await page.reload();
  await expect(twice).toBeVisible();
  await twice.focus();
  await page.keyboard.press("Delete");
  await expect(twice).toHaveCount(0);
  await page.keyboard.press("Control+z");
  await expect(twice).toBeVisible();
  await page.keyboard.press("Control+Shift+z");
  await designer.saved();
  expect((await draftOf(page, name)).startsWith(before)).toBe(true);
  expect(await draftOf(page, name)).not.toContain("notes");
});

const paid = workflow(`
- id: load
  type: set
  outputs: {total: "inputs.amount * 2", card: inputs.card}
- id: tax
  type: set
  needs: [load]
  outputs: {tax: activities.load.outputs.total / 10}
- id: sum
  type: set
  needs: [tax]
  outputs: {sum: activities.load.outputs.total + activities.tax.outputs.tax}
- id: tell
  type: set
  needs: [sum]
  outputs: {words: "'sum ' + string(activities.sum.outputs.sum)"}
`, "  input: {type: object, properties: {amount: {type: integer, default: 100}, card: {type: string, x-sensitive: true}}}\n  output: {words: activities.tell.outputs.words, tax: activities.tax.outputs.tax}\n");

test("chosen activities move into a workflow of their own, and the result is the same", async ({ page, expectNoise }) => {
  expectNoise(/412/); // the name that is taken
  const name = await openText(page, paid);
  const designer = new DesignerPage(page);
  const before = await draftOf(page, name);
  await designer.card("tax").click();
  await designer.card("sum").click({ modifiers: ["Shift"] });
  await page.keyboard.press("e");
  const box = page.getByRole("dialog", { name: "Move into a workflow of its own" });
  await expect(box.getByLabel("Name of the new workflow")).toHaveValue(`${name}-tax`);
  await box.getByLabel("Name of the new workflow").fill("No Name");
  await page.keyboard.press("Enter");
  await expect(box.getByRole("alert")).toContainText("small letters");
  await box.getByLabel("Name of the new workflow").fill(name);
  await page.keyboard.press("Enter");
  await expect(box.getByRole("alert")).toContainText("already a workflow");
  await box.getByLabel("Name of the new workflow").fill(`${name}-sum`);
  await page.keyboard.press("Enter");
  await expect(box).toHaveCount(0);
  await expect(page.locator(".ds-news")).toContainText(`Moved 2 activities to ${name}-sum`);
  await expect(page.locator(".ds-news").getByRole("link", { name: `Open ${name}-sum` })).toHaveAttribute("href", `/workflows/${name}-sum/edit`);
  const moved = `${name}-sum`.replaceAll("-", "_");
  await expect(designer.node(moved)).toBeVisible();
  await expect(designer.node("tax")).toHaveCount(0);
  await designer.saved();
  const headers = { Authorization: `Bearer ${process.env.E2E_TOKEN}` };
  const ends = async (workflow: string) => {
    const started = await (await page.request.post(`/api/v1/workflows/${workflow}/executions`, { headers, data: { input: { amount: 100 } } })).json();
    await expect.poll(async () => (await (await page.request.get(`/api/v1/executions/${started.id}`, { headers })).json()).status).toBe("completed");
    return (await (await page.request.get(`/api/v1/executions/${started.id}`, { headers })).json()).output;
  };
  const publish = async (workflow: string) => {
    const answer = await page.request.post(`/api/v1/workflows/${workflow}/publish`, { headers, data: { message: "" } });
    expect(answer.status(), await answer.text()).toBe(201);
  };
  await publish(`${name}-sum`);
  await publish(name);
  const after = await ends(name);
  await page.keyboard.press("Control+Shift+G");
  await page.keyboard.press("Control+z");
  await designer.saved();
  expect(await draftOf(page, name)).toBe(before);
  await publish(name);
  expect(await ends(name)).toEqual(after);
  expect(after).toEqual({ words: "sum 220", tax: 20 });
});

test("what cannot move out says why", async ({ page }) => {
  await openText(page, three);
  const designer = new DesignerPage(page);
  await designer.card("two").click();
  await designer.card("one").click({ modifiers: ["Shift"] });
  await page.keyboard.press("e");
  await expect(page.locator(".ds-toast")).toContainText("two does not lead to one");
});

test("a fitted graph lies clear of the zoom buttons", async ({ page }) => {
  await openText(page, workflow(Array.from({ length: 12 }, (_, i) => `\n- {id: row_${i}, type: set, outputs: {n: "${i}"}}`).join("")));
  await page.getByRole("button", { name: "Fit the whole graph" }).click();
  const tools = (await page.locator(".gv-tools").boundingBox())!;
  const lowest = (await new DesignerPage(page).card("row_11").boundingBox())!;
  expect(lowest.y + lowest.height).toBeLessThanOrEqual(tools.y);
});
