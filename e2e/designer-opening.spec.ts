// How a graph first stands on the screen, at any width; what is shown of a text that
// cannot be read; and what the pages that only show need for it.
import type { Page } from "@playwright/test";
import { expect, test } from "./quiet";
import { DesignerPage, draftOf, openText, saveDraft, workflow } from "./designer-page";

const headers = { Authorization: `Bearer ${process.env.E2E_TOKEN}` };
const chain = (ids: string[]) => ids.map((id, i) => `- id: ${id}\n  type: set\n${i ? `  needs: [${ids[i - 1]}]\n` : ""}  outputs: {value: "1"}\n`).join("");
const four = workflow(chain(["one", "two", "three", "four"]));

/** Each card with its place on the screen, and the stage it stands on. */
const onScreen = (page: Page) => page.evaluate(() => {
  const place = (e: Element) => (({ left, right, top, bottom }) => ({ left, right, top, bottom }))(e.getBoundingClientRect());
  const cards = [...document.querySelectorAll(".gv-card")];
  const sizes = [...document.querySelectorAll(".gv-card :is(.gv-name, .gv-detail), .gv-state")].map((e) => parseFloat(getComputedStyle(e).fontSize));
  const zoom = Number(/scale\(([\d.]+)\)/.exec(document.querySelector(".gv-world")!.getAttribute("style")!)![1]);
  return { stage: place(document.querySelector(".gv-stage")!), cards: cards.map(place), words: zoom * Math.min(...sizes) };
});

for (const [width, height, least] of [[1280, 800, 4], [768, 1024, 2], [390, 780, 1], [360, 740, 1]] as const) {
  test(`at ${width} px a graph opens legible, all of it or from its entry on`, async ({ page }) => {
    await page.setViewportSize({ width, height });
    const name = await saveDraft(page, four);
    expect((await page.request.post(`/api/v1/workflows/${name}/publish`, { headers, data: { message: "" } })).status()).toBe(201);
    const started = await (await page.request.post(`/api/v1/workflows/${name}/executions`, { headers, data: { input: {} } })).json();
    const execution = `/executions/${started.id}`;
    for (const path of [`/workflows/${name}/edit`, `/workflows/${name}`, execution, `/workflows/${name}/diff?from=1&to=draft`]) {
      await page.goto(path);
      await expect(page.locator(".gv-card").first()).toBeVisible();
      // Where it is worked on beside its text, more of it counts for more.
      await expect.poll(async () => (await onScreen(page)).words, path).toBeGreaterThanOrEqual(path.endsWith("/edit") ? 7.5 : 11);
      const { stage, cards } = await onScreen(page);
      const whole = cards.filter((c) => c.left >= stage.left && c.right <= stage.right && c.top >= stage.top && c.bottom <= stage.bottom);
      // An execution opens where it stands, everything else at its entry.
      if (path === execution) {
        await expect(page.locator(".gv-selected .gv-card")).toBeInViewport({ ratio: 0.99 });
        continue;
      }
      expect(whole.length, path).toBeGreaterThanOrEqual(least);
      expect(cards[0]!.left - stage.left, `${path}: begins at its entry`).toBeLessThan(width > 768 ? width / 4 : 60);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), path).toBeLessThanOrEqual(width);
    }
  });
}

test("an entry far down a tall graph is where a small screen begins", async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 780 });
  const far = Array.from({ length: 30 }, (_, i) => `- id: n${i}\n  type: set\n  needs: [entry]\n  outputs: {value: "1"}\n`).join("");
  await openText(page, (name) => `${workflow(`- id: entry\n  type: set\n  outputs: {value: "1"}\n${far}`)(name)}---\napiVersion: weftline/v1\nkind: Layout\npositions:\n  entry: [0, 2400]\n`);
  await expect(new DesignerPage(page).card("entry")).toBeInViewport();
  const stage = page.locator(".gv-stage");
  await expect(stage, "a shade says where it goes on").toHaveAttribute("data-beyond", "above");
  await page.screenshot({ path: "shots/designer-shade.png" });
  await new DesignerPage(page).fit();
  await expect(stage).not.toHaveAttribute("data-beyond");
});

test("a draft that is broken when it is opened shows its last good graph and boxes the place", async ({ page, browser }) => {
  const name = await openText(page, four);
  const designer = new DesignerPage(page);
  await designer.saved();
  await page.getByLabel("Workflow as YAML").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.press("End");
  await page.keyboard.insertText("\nbroken: [1, 2");
  await expect(page.locator(".ds-stale")).toContainText("cannot be read: line");
  await designer.saved();
  const broken = await draftOf(page, name);
  expect(broken).toContain("broken: [1, 2");

  // Another browser knows nothing of what was there before.
  const other = await browser.newPage();
  await other.goto(`/workflows/${name}/edit`);
  const there = new DesignerPage(other);
  await expect(there.card("four")).toBeVisible();
  await expect(other.getByText("Nothing here yet")).toBeHidden();
  const notice = other.locator(".ds-stale");
  await expect(notice).toContainText(/cannot be read: line \d+, column \d+: .*shows what could be read last/);
  const line = /line (\d+)/.exec((await notice.textContent())!)![1]!;
  await expect(other.locator(".cm-unreadable").first()).toBeVisible();
  await notice.getByRole("button", { name: `Go to line ${line}` }).click();
  await expect(other.getByLabel("Workflow as YAML")).toBeFocused();
  // What the canvas offers meanwhile says why it cannot be done, and changes nothing.
  await there.card("four").click();
  await other.keyboard.press("Delete");
  await expect(other.locator(".ds-toast")).toContainText("valid YAML first");
  await expect(there.card("four")).toBeVisible();
  expect(await draftOf(page, name)).toBe(broken);
  await other.close();
});

test("a draft that never was good says where it is wrong", async ({ page, expectNoise }) => {
  expectNoise(/style-src/); // the browser would keep the look of what is typed over, and may not
  const name = await saveDraft(page, () => "kind: Workflow\nspec: {activities: [\n");
  await page.goto(`/workflows/${name}/edit`);
  await expect(page.locator(".ds-stale")).toContainText("There is nothing to draw yet");
  await expect(page.getByText("Nothing here yet")).toBeHidden();
  await page.locator(".ds-stale").getByRole("button", { name: /^Go to line \d/ }).click();
  await expect(page.getByLabel("Workflow as YAML")).toBeFocused();
  await page.keyboard.press("Control+a");
  await page.keyboard.insertText(four(name));
  await expect(new DesignerPage(page).card("four")).toBeVisible();
  await expect(page.locator(".ds-stale")).toBeHidden();
});

test("pages that only show a graph load no YAML parser, and the designer does", async ({ page }) => {
  const name = await saveDraft(page, four);
  expect((await page.request.post(`/api/v1/workflows/${name}/publish`, { headers, data: { message: "" } })).status()).toBe(201);
  const started = await (await page.request.post(`/api/v1/workflows/${name}/executions`, { headers, data: { input: {} } })).json();
  const parserOn = async (path: string) => {
    await page.goto(path);
    await expect(page.locator('.gv-node[data-key="four"]')).toBeVisible();
    await page.waitForLoadState("networkidle");
    const scripts = await page.evaluate(() => performance.getEntriesByType("resource").map((r) => r.name).filter((n) => n.endsWith(".js")));
    expect(scripts.length).toBeGreaterThan(2);
    const texts = await Promise.all(scripts.map(async (script) => (await page.request.get(script)).text()));
    return texts.some((text) => text.includes("BLOCK_FOLDED"));
  };
  for (const path of [`/workflows/${name}`, `/executions/${started.id}`, `/workflows/${name}/diff?from=1&to=draft`]) expect(await parserOn(path), path).toBe(false);
  expect(await parserOn(`/workflows/${name}/edit`)).toBe(true);
});

test("a comparison with a text that cannot be read says so instead of a wrong graph", async ({ page }) => {
  const name = await saveDraft(page, four);
  expect((await page.request.post(`/api/v1/workflows/${name}/publish`, { headers, data: { message: "" } })).status()).toBe(201);
  const etag = (await page.request.get(`/api/v1/workflows/${name}/draft`, { headers })).headers().etag!;
  expect((await page.request.put(`/api/v1/workflows/${name}/draft`, { headers: { ...headers, "If-Match": etag, "Content-Type": "application/yaml" }, data: "spec: [" })).status()).toBe(200);
  await page.goto(`/workflows/${name}/review`);
  await expect(page.locator("[data-graph-diff]")).toContainText("There is no graph while the text cannot be read");
  await expect(page.locator(".gv-node")).toHaveCount(0);
});
