// Code in a workflow, and running it where it is drawn, up to any activity.
import { expect, test } from "./quiet";
import { DesignerPage, draftOf, openText, workflow } from "./designer-page";
import { service } from "./service";

test("a script that cannot run is found while it is written, with its place", async ({ page }) => {
  await openText(page, workflow(`
- id: count
  type: script
  inputs:
    language: javascript
    source: |
      const a = 1;
      return a +* 2
`));
  await expect(page.locator(".ds-problems-button, [aria-controls]").filter({ hasText: "1 error" }).first()).toBeVisible();
  await page.keyboard.press("Control+Shift+G");
  await page.keyboard.press("p");
  await expect(page.getByText(/cannot be run: SyntaxError: Unexpected token \*/).first()).toBeVisible();
  await expect(page.getByText(/14/).first()).toBeVisible();
});

test("code has an editor in the form: coloured, marked where it is wrong, one undo, and Tab leaves it", async ({ page }) => {
  const name = await openText(page, workflow(`
- id: count
  type: script
  inputs:
    language: javascript
    source: |
      // sums up
      return 1
- id: load
  type: sql
  needs: [count]
  inputs: {connection: shop, query: "select 1"}
`));
  const designer = new DesignerPage(page);
  const before = await draftOf(page, name);
  await designer.card("count").click();
  await page.locator('.ds-field[data-path="inputs.source"] textarea').click();
  const editor = page.locator('.ds-field[data-path="inputs.source"] .ds-code-field .cm-content');
  await expect(editor).toBeFocused();
  await expect(editor).toHaveAttribute("aria-label", /Source|Script/i);
  await expect(editor.locator(".cm-line span").first()).toHaveText(/sums up/);
  await page.keyboard.press("Control+End");
  await page.keyboard.type("let b = = 2");
  await expect(page.locator('.ds-field[data-path="inputs.source"] .cm-lintRange-error')).toHaveText("=");
  await expect(page.locator('.ds-field[data-path="inputs.source"] .ds-problem')).toContainText("Unexpected token =");
  await page.screenshot({ path: "shots/designer-code-field.png" });
  await designer.saved();
  expect(await draftOf(page, name)).toContain("      return 1\n          let b = = 2");
  await page.keyboard.press("Control+z");
  await expect(page.locator('.ds-field[data-path="inputs.source"] .cm-content')).toBeFocused();
  await designer.saved();
  expect(await draftOf(page, name)).toBe(before);
  await page.keyboard.press("Tab");
  await expect(page.locator('.ds-field[data-path="inputs.source"] .cm-content')).not.toBeFocused();
  await page.keyboard.press("Shift+Tab");
  await expect(page.locator('.ds-field[data-path="inputs.source"] .cm-content')).toBeFocused();
  await page.emulateMedia({ colorScheme: "dark" });
  await page.screenshot({ path: "shots/designer-code-field-dark.png" });
  await designer.card("load").click();
  await page.locator('.ds-field[data-path="inputs.query"] textarea').click();
  await expect(page.locator('.ds-field[data-path="inputs.query"] .cm-line span').first()).toHaveText("select");
});

test("run up to an activity: what is ticked runs for real, what is not is planned, and effects are asked for", async ({ page }) => {
  const { address, calls, close } = await service({ order: "A7", total: 250 });
  try {
    const name = await openText(page, workflow(`
- id: load
  type: http
  inputs: {url: "http://${address}/orders"}
- id: charge
  type: http
  needs: [load]
  inputs: {method: POST, url: "http://${address}/pay/\${{ activities.load.outputs.body.order }}"}
- id: total
  type: set
  needs: [charge]
  outputs: {sum: activities.charge.outputs.body.total}
`));
    const designer = new DesignerPage(page);
    const before = await draftOf(page, name);
    await designer.fit();
    await designer.card("total").click();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("run up to");
    await page.keyboard.press("Enter");
    const real = page.getByRole("group", { name: "Run for real" });
    const load = real.getByRole("checkbox", { name: /^load/ });
    const charge = real.getByRole("checkbox", { name: /^charge/ });
    await expect(load).toBeChecked(); // it only reads
    await expect(load).toBeFocused();
    await expect(charge).not.toBeChecked();
    await page.screenshot({ path: "shots/designer-run-to.png" });

    // Only what is ticked: charge is planned, and nobody can say what it gives.
    await real.getByRole("button", { name: "Run up to total" }).click();
    await expect(real).toContainText("total was not reached");
    await expect(real).toContainText("charge needs a mock");
    expect(calls).toEqual(["GET /orders"]);
    // The canvas shows what was really done, and nothing of the plan that contradicts it.
    await expect(designer.node("load")).toHaveAttribute("data-state", "completed");
    await expect(designer.node("load")).toContainText("for real");
    const panel = page.getByRole("region", { name: "Try out" });
    await expect(panel).not.toContainText("Nothing was run");
    await expect(panel).not.toContainText("load needs a mock");
    await expect(real.getByLabel("What it gave")).toHaveCount(1); // load's, in its own summary
    await expect(real.getByRole("button", { name: /^Pin/ })).toHaveCount(0);

    await real.getByRole("button", { name: "Run it again" }).press("Enter");
    await charge.check();
    await real.getByRole("button", { name: "Run up to total …" }).press("Enter");
    await expect(real).toContainText(`charge: It calls POST http://${address}/pay/`);
    expect(calls).toHaveLength(1);
    await real.getByRole("button", { name: "Run it now" }).press("Enter");
    await expect(real).toContainText("Ran for real: completed");
    expect(calls).toEqual(["GET /orders", "GET /orders", "POST /pay/A7"]);
    await expect(real.getByLabel("What it gave").last()).toContainText("sum: 250");
    await page.screenshot({ path: "shots/designer-ran-to.png" });
    await real.getByRole("button", { name: "Pin these answers" }).click();
    await expect(panel).toContainText("would end as completed");
    expect(await draftOf(page, name)).toBe(before);
    // What is said of pins follows them.
    await designer.card("charge").click();
    await expect(load).toHaveCount(1);
    await expect(real).toContainText("Pinned.");
    await panel.getByRole("button", { name: "Unpin all" }).click();
    await expect(real).not.toContainText("Pinned.");
    await expect(load).toBeChecked();
  } finally {
    close();
  }
});

test("what fails before the chosen activity is named, led to and never pinned; what runs in a loop can be run for real", async ({ page }) => {
  const { address, calls, close } = await service({ total: 1 }, (path) => (path === "/broken" ? 503 : 200));
  try {
    await openText(page, workflow(`
- id: each
  type: for_each
  for_each:
    items: '["a", "b"]'
    activities:
    - id: price
      type: http
      inputs: {url: "http://${address}/\${{ item }}"}
- id: load
  type: http
  needs: [each]
  inputs: {url: "http://${address}/broken"}
- id: total
  type: set
  needs: [load]
  outputs: {sum: activities.load.outputs.body.total}
`));
    const designer = new DesignerPage(page);
    await designer.fit();
    await designer.card("total").click();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("run up to");
    await page.keyboard.press("Enter");
    const real = page.getByRole("group", { name: "Run for real" });
    await expect(real.getByRole("checkbox", { name: /^price: .*For each item of each/ })).toBeChecked();
    await real.getByRole("button", { name: "Run up to total" }).click();
    await expect(real).toContainText("load failed: http.503");
    await expect(real).toContainText("total was not reached.");
    expect([...calls].sort()).toEqual(["GET /a", "GET /b", "GET /broken"]);
    await expect(real.getByRole("button", { name: /^Pin/ })).toHaveCount(0);
    await expect(designer.node("load")).toHaveAttribute("data-state", "failed");
    await real.getByRole("button", { name: "Show load" }).click();
    await expect(designer.field("inputs.url")).toHaveValue(`http://${address}/broken`);
    await expect(page.getByText("It was given")).toBeVisible();
  } finally {
    close();
  }
});
