// Several people on one draft: where each of them is; and the path of what one looks at.
import { expect, test } from "./quiet";
import { DesignerPage, openText, workflow } from "./designer-page";

const set = (id: string, needs = "") => `- id: ${id}\n  type: set\n${needs ? `  needs: [${needs}]\n` : ""}  outputs: {value: "1"}\n`;

test("others are shown at the activity that they have selected, in sight and in words", async ({ page, context }) => {
  const name = await openText(page, workflow(set("load") + set("charge", "load") + set("ship", "charge")));
  const designer = new DesignerPage(page);
  const second = await context.newPage();
  await second.goto(`/workflows/${name}/edit`);
  const other = new DesignerPage(second);
  await expect(other.card("charge")).toBeVisible();
  await other.card("charge").click();
  await expect(designer.node("charge").locator(".gv-guests")).toBeVisible();
  await expect(designer.card("charge")).toHaveAttribute("aria-label", / here;/);
  await expect(page.getByRole("list", { name: "Also working on this draft" })).toContainText("at charge");
  await expect(other.node("charge").locator(".gv-guests")).toHaveCount(0); // nobody is told of oneself
  await page.screenshot({ path: "shots/designer-together.png" });
  await other.card("ship").click();
  await expect(designer.node("ship").locator(".gv-guests")).toBeVisible();
  await expect(designer.node("charge").locator(".gv-guests")).toHaveCount(0);
  await second.close();
  await expect(designer.node("ship").locator(".gv-guests")).toHaveCount(0);
  await expect(designer.card("ship")).not.toHaveAttribute("aria-label", / here;/);
});

test("the whole path of an activity is lit on demand, and follows the selection", async ({ page }) => {
  await openText(page, workflow(set("load") + set("charge", "load") + set("ship", "charge") + set("note", "load") + set("alone")));
  const designer = new DesignerPage(page);
  await designer.fit();
  await designer.card("charge").click();
  await page.keyboard.press("h");
  for (const id of ["load", "charge", "ship"]) await expect(designer.node(id)).toHaveAttribute("data-path", "on");
  for (const id of ["note", "alone"]) await expect(designer.node(id)).toHaveAttribute("data-path", "off");
  await expect(page.locator('.gv-edge[data-edge="load.success->note"]')).toHaveAttribute("data-path", "off");
  await page.screenshot({ path: "shots/designer-path.png" });
  await designer.card("note").click();
  await expect(designer.node("ship")).toHaveAttribute("data-path", "off");
  await expect(designer.node("load")).toHaveAttribute("data-path", "on");
  await page.keyboard.press("h");
  await expect(designer.node("ship")).not.toHaveAttribute("data-path", /./);
});
