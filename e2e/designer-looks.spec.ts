// How the designer stands up to other eyes: axe with the panels open, forced colours,
// strong zoom; and what it weighs.
import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "./quiet";
import { DesignerPage, openText, saveOver, workflow } from "./designer-page";

const text = workflow(`
- id: ask
  type: human
  human: {title: "Go on?", candidates: {groups: [managers]}}
- id: call
  type: http
  needs: [ask]
  inputs: {url: "https://shop.example"}
  retry: 3
- id: undo_it
  type: set
  needs: [call.failure]
  outputs: {value: "1"}
`);

test("axe finds nothing serious with forms, panels and menus open, nor on the difference page", async ({ page, expectNoise }) => {
  test.slow();
  expectNoise(/422/);
  const name = await openText(page, text);
  const designer = new DesignerPage(page);
  const clean = async (where: string) => {
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${where}: ${v.id}: ${v.nodes[0]?.html}`)).toEqual([]);
  };
  await page.getByRole("button", { name: "Try out" }).click();
  await designer.card("call").click();
  for (const summary of await page.locator(".ds-details details:not([open]) > summary").all()) if (await summary.isVisible()) await summary.click();
  await clean("forms");
  await designer.card("ask").click({ button: "right" });
  await clean("menu");
  await page.keyboard.press("Escape");
  await page.goto(`/workflows/${name}/review`);
  await clean("difference");
});

test("forced colours, dark and strong zoom keep everything in reach", async ({ page }) => {
  await openText(page, text);
  const designer = new DesignerPage(page);
  await designer.card("call").click();
  await page.emulateMedia({ forcedColors: "active" });
  await page.screenshot({ path: "shots/designer-forced.png" });
  await page.emulateMedia({ forcedColors: "none", colorScheme: "dark" });
  await page.screenshot({ path: "shots/designer-dark.png" });
  await page.setViewportSize({ width: 360, height: 225 }); // 1440 × 900 at 400 %
  await page.getByRole("tab", { name: "Details" }).click();
  await expect(page.locator('.ds-field[data-path="name"] input')).toBeVisible();
  await page.locator('.ds-field[data-path="name"] input').focus();
  await expect(page.locator('.ds-field[data-path="name"] input')).toBeInViewport();
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
  await page.screenshot({ path: "shots/designer-400.png" });
});

test("the scripts of the designer, code editor and difference open, stay under 240 KB compressed", async ({ page, context, expectNoise }) => {
  expectNoise(/412/);
  const scripts = new Map<string, number>();
  page.on("response", (r) => r.request().resourceType() === "script" && scripts.set(r.url(), Number(r.headers()["content-length"])));
  const name = await openText(page, text);
  const code = page.getByLabel("Workflow as YAML");
  await code.click(); // what helps typing comes with the keyboard
  await new DesignerPage(page).saved();
  // Somebody else changes the same line while this page's save is on its way.
  let held = false;
  await page.route("**/draft", async (route) => {
    if (route.request().method() === "PUT" && !held) {
      held = true;
      const elsewhere = await saveOver(context, name, (draft) => draft.replace("Go on?", "Theirs?"));
      expect(elsewhere).toBe(200);
    }
    await route.continue();
  });
  await new DesignerPage(page).card("ask").click();
  await page.locator('.ds-field[data-path="human.title"] :is(input, textarea)').fill("Mine?");
  await expect(page.getByRole("alert", { name: "Conflicting changes" })).toContainText("Theirs?");
  expect(scripts.size).toBeGreaterThan(6);
  expect([...scripts.values()].reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(240 * 1024);

  // The difference page adds nothing of weight of its own.
  await page.goto(`/workflows/${name}/review`);
  await expect(page.locator(".gv-card").first()).toBeVisible();
  expect([...scripts.values()].reduce((a, b) => a + b, 0)).toBeLessThanOrEqual(240 * 1024);
});

test("typing YAML is helped: names that an expression may use, brackets that close", async ({ page }) => {
  await openText(page, text);
  const code = page.getByLabel("Workflow as YAML");
  const before = await page.evaluate(() => performance.getEntriesByType("resource").length);
  await code.click();
  await expect.poll(() => page.evaluate(() => performance.getEntriesByType("resource").length)).toBeGreaterThan(before); // the help is loaded now
  await page.keyboard.press("Control+End");
  await page.keyboard.type('      other: "${{ activities.');
  const offered = page.locator(".cm-tooltip-autocomplete");
  await expect(offered).toContainText("ask");
  await page.keyboard.press("Escape");
  await expect(offered).toBeHidden();
  await page.keyboard.type("ask.out");
  await offered.getByText("outcome").click();
  await expect(code).toContainText('other: "${{ activities.ask.outcome"');
});

test("open for reading only, the canvas has the room of the palette", async ({ page }) => {
  await page.route("**/edit", async (route) => {
    const answer = await route.fetch();
    await route.fulfill({ response: answer, body: (await answer.text()).replace('data-readonly="false"', 'data-readonly="true"') });
  });
  await openText(page, workflow("- id: go\n  type: set\n  outputs: {a: \"1\"}\n"));
  await expect(page.locator(".ds-form-head")).toBeVisible();
  const [canvas, details] = [await page.locator(".ds-canvas").boundingBox(), await page.locator(".ds-details").boundingBox()];
  expect(canvas!.width).toBeGreaterThan(2 * details!.width);
  expect(details!.x + details!.width).toBeCloseTo(page.viewportSize()!.width, 0);
});
