// What keeps the designer fast, by counting: bytes, elements, changes of the page. No clocks.
import { expect, test, type Page } from "@playwright/test";
import { DesignerPage, draftOf, openText, saveDraft, workflow } from "./designer-page";

const two = workflow(`
- id: one
  type: set
  outputs: {value: "1"}
- id: two
  type: set
  needs: [one]
  outputs: {value: "1"}
`);

/** Scripts that the designer's own script asks for when it runs, by address. */
async function laterScripts(page: Page, name: string): Promise<Set<string>> {
  const html = await (await page.request.get(`/workflows/${name}/edit`)).text();
  const island = /\/static\/designer-[A-Z0-9]+\.js/.exec(html)![0];
  const code = await (await page.request.get(island)).text();
  return new Set([...code.matchAll(/import\("\.\/([^"]+)"\)/g)].map((found) => `/static/${found[1]}`));
}

test("60 KB of scripts make a canvas that can be worked on; what is done before the editor is there is done when it comes", async ({ page }) => {
  const name = await saveDraft(page, two);
  const later = await laterScripts(page, name);
  expect(later.size).toBeGreaterThan(0);
  let release = (): void => undefined;
  const released = new Promise<void>((go) => (release = go));
  await page.route((url) => later.has(url.pathname), async (route) => {
    await released;
    await route.continue();
  });
  await page.goto(`/workflows/${name}/edit`);
  const designer = new DesignerPage(page);
  await designer.card("two").click();
  await expect(designer.node("two")).toHaveClass(/gv-selected/);
  const bytes = await page.evaluate((not) => (performance.getEntriesByType("resource") as PerformanceResourceTiming[])
    .filter((r) => r.name.endsWith(".js") && !not.includes(new URL(r.name).pathname))
    .reduce((sum, r) => sum + r.encodedBodySize, 0), [...later]);
  expect(bytes).toBeGreaterThan(30_000);
  expect(bytes).toBeLessThanOrEqual(60 * 1024);

  // Looking around needs nothing more.
  await page.keyboard.press("ArrowLeft");
  await expect(designer.card("one")).toBeFocused();
  const world = page.locator(".gv-world");
  const before = await world.getAttribute("style");
  const box = (await designer.card("two").boundingBox())!;
  await page.mouse.move(box.x + box.width / 2, box.y + box.height + 80);
  await page.mouse.wheel(0, 30);
  await expect(world).not.toHaveAttribute("style", before!);

  // Changes wait for the editor, in their order.
  const there = (await designer.card("two").boundingBox())!;
  await designer.drag(designer.card("two"), { x: there.x + there.width / 2, y: there.y + there.height / 2 + 120 });
  await page.keyboard.press("a");
  await page.keyboard.type("wait");
  await page.keyboard.press("Enter");
  await expect(designer.node("wait")).toHaveCount(0);
  release();
  await expect(designer.card("wait")).toBeVisible();
  await designer.saved();
  const draft = await draftOf(page, name);
  expect(draft).toMatch(/two: \[\d+, \d+\]/);
  expect(draft).toMatch(/id: wait\n\s+type: wait\n\s+needs: \[two\]/);
});

test("an editor that does not come is said, and the canvas stays", async ({ page }) => {
  const name = await saveDraft(page, two);
  const later = await laterScripts(page, name);
  await page.route((url) => later.has(url.pathname), (route) => route.abort());
  await page.goto(`/workflows/${name}/edit`);
  await expect(page.locator("#designer-status")).toContainText("could not be loaded");
  await expect(new DesignerPage(page).card("two")).toBeVisible();
});

test("keys that come while the list of commands is still loaded are meant for the list", async ({ page }) => {
  const name = await openText(page, two);
  const designer = new DesignerPage(page);
  await expect(page.locator(".ds-problem-count")).toHaveText("No problems");
  let release = (): void => undefined;
  const released = new Promise<void>((go) => (release = go));
  await page.route(/\.js$/, async (route) => {
    await released;
    await route.continue();
  });
  await designer.card("two").click();
  const asked = page.waitForRequest(/\.js$/);
  await page.keyboard.press("Control+k");
  await asked;
  await page.keyboard.type("download as");
  await page.keyboard.press("Enter");
  const kept = page.waitForEvent("download");
  release();
  expect((await kept).suggestedFilename()).toBe(`${name}.yaml`);
  expect(await draftOf(page, name)).toBe(two(name));
});

test("1,000 activities: at no zoom are there more than 8,000 elements", async ({ page }) => {
  test.slow();
  await page.setViewportSize({ width: 2560, height: 1440 });
  await page.addInitScript(() => localStorage.setItem("weftline:code", "off"));
  // Dense: columns of many short cards, each edge to the next column.
  const rows = 40;
  const list = Array.from({ length: 1000 }, (_, i) => {
    const needs = i < rows ? "" : `  needs: [n${i - rows}${i % 5 === 0 || i % rows === 0 ? "" : `, n${i - rows - 1}`}]\n`;
    return `- id: n${i}\n  type: set\n${needs}  outputs: {value: "1"}\n`;
  }).join("");
  await openText(page, workflow(list));
  const designer = new DesignerPage(page);
  await expect(designer.card("n0")).toBeVisible();
  await expect(page.locator(".ds-problem-count")).toHaveText("No problems");
  const stage = (await page.locator(".gv-stage").boundingBox())!;
  await page.mouse.move(stage.x + stage.width / 2, stage.y + stage.height / 2);
  const counted: Record<string, number> = {};
  await page.keyboard.down("Control");
  for (let wheel = -240; wheel < 600; wheel += 20) {
    await page.mouse.wheel(0, wheel < 0 ? -20 : 20);
    await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    const zoom = /scale\(([\d.]+)\)/.exec((await page.locator(".gv-world").getAttribute("style"))!)![1]!;
    counted[zoom] = await page.locator("*").count();
  }
  await page.keyboard.up("Control");
  expect(Object.keys(counted).length).toBeGreaterThan(20);
  for (const [zoom, elements] of Object.entries(counted)) expect(elements, `at zoom ${zoom}`).toBeLessThanOrEqual(8000);
});

test("panning within what is drawn changes one element", async ({ page }) => {
  await openText(page, two);
  const designer = new DesignerPage(page);
  await expect(page.locator(".ds-problem-count")).toHaveText("No problems");
  const box = (await designer.card("two").boundingBox())!;
  await page.mouse.move(box.x, box.y + box.height + 100);
  await page.evaluate(() => {
    const changed = new Set<string>();
    const watch = new MutationObserver((records) => records.forEach((r) => changed.add(`${(r.target as Element).getAttribute("class")} ${r.type} ${r.attributeName}`)));
    watch.observe(document.querySelector(".gv")!, { subtree: true, childList: true, attributes: true, characterData: true });
    Object.assign(window, { changed });
  });
  for (let i = 0; i < 5; i++) await page.mouse.wheel(6, 4);
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
  const changed = await page.evaluate(() => [...(window as unknown as { changed: Set<string> }).changed]);
  expect(changed.filter((c) => !c.startsWith("gv-minimap"))).toEqual(["gv-world attributes style"]);
});
