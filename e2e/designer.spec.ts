// The designer as a person uses it: the reference flow drawn by mouse and again by
// keyboard alone, both counted, and what must never be lost.
import AxeBuilder from "@axe-core/playwright";
import { type Locator, type Page } from "@playwright/test";
import { expect, test } from "./quiet";

let made = 0;

/** Opens the designer on a new workflow that holds one activity, `start`. */
async function openNew(page: Page): Promise<string> {
  const name = `drawn-${Date.now().toString(36)}-${++made}`;
  await page.goto("/new");
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Open the designer" }).click();
  await expect(node(page, "start")).toBeVisible();
  return name;
}

const node = (page: Page, key: string): Locator => page.locator(`.gv-node[data-key="${key}"]`);
const card = (page: Page, key: string): Locator => node(page, key).locator(".gv-card");
const port = (page: Page, key: string, name: string): Locator => node(page, key).locator(`.gv-port[data-port="${name}"]`);
const edge = (page: Page, key: string): Locator => page.locator(`.gv-edge[data-edge="${key}"]`);
const saved = (page: Page): Promise<void> => expect(page.locator("#designer-status")).toHaveText("Saved");

/** The draft as the server has it. */
async function draft(page: Page, name: string): Promise<string> {
  const answer = await page.request.get(`/api/v1/workflows/${name}/draft`);
  expect(answer.status()).toBe(200);
  return answer.text();
}

async function middle(locator: Locator): Promise<{ x: number; y: number }> {
  const box = (await locator.boundingBox())!;
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

async function drag(page: Page, from: Locator, to: Locator): Promise<void> {
  const [a, b] = [await middle(from), await middle(to)];
  await page.mouse.move(a.x, a.y);
  await page.mouse.down();
  await page.mouse.move((a.x + b.x) / 2, b.y + 20, { steps: 4 });
  await page.mouse.move(b.x, b.y, { steps: 4 });
  await page.mouse.up();
}

/** All edges of the reference flow are there; what is out of sight is not drawn, so the view is fitted first. */
async function expectTopology(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Fit the whole graph" }).click();
  for (const key of topology) await expect(edge(page, key), key).toHaveCount(1);
}

const topology = [
  "start.success->request", "request.success->decide", "decide.first->request_2", "request_2.success->wait",
  "decide.otherwise->approve", "approve.approved->set_values", "wait.success->set_values",
];

test("the reference flow by mouse: eight pointer actions at most, no dialog over the canvas", async ({ page }) => {
  const name = await openNew(page);
  let actions = 0;
  const add = async (key: string, from: string, what: string) => {
    await port(page, key, from).click();
    actions++;
    await page.keyboard.type(what);
    await page.keyboard.press("Enter");
  };
  await add("start", "success", "htt");
  await add("request", "success", "swi");
  await add("decide", "first", "htt");
  await add("request_2", "success", "wai");
  await add("decide", "otherwise", "hum");
  await add("approve", "approved", "set");
  await drag(page, port(page, "wait", "success").locator(".gv-dot"), card(page, "set_values"));
  actions++;
  await expectTopology(page);
  expect(actions).toBeLessThanOrEqual(8);
  await expect(page.locator("dialog[open]")).toHaveCount(0);
  await saved(page);
  expect(await draft(page, name)).toContain("needs: [approve.approved, wait]");
  await page.screenshot({ path: "shots/designer.png" });
});

test("the configured workflow by mouse: 24 clicks, one drag, 130 characters at most, no dialog", async ({ page }) => {
  await openNew(page);
  const count = { clicks: 0, drags: 0, characters: 0 };
  const click = async (target: Locator) => {
    await target.click();
    count.clicks++;
  };
  const type = async (words: string) => {
    await page.keyboard.type(words);
    count.characters += words.length;
  };
  const add = async (key: string, from: string, what: string) => {
    await click(port(page, key, from));
    await type(what);
    await page.keyboard.press("Enter");
    await expect(page.locator("dialog[open]")).toHaveCount(0);
  };
  const write = async (path: string, words: string, nth = 0) => {
    await click(page.locator(`.ds-field[data-path="${path}"] :is(input, textarea)`).nth(nth));
    await page.keyboard.press("Control+a");
    await type(words);
  };
  await add("start", "success", "htt");
  await write("inputs.url", "https://shop.example/a");
  await add("request", "success", "swi");
  await write("switch.cases", "1 + 1 > 1", 1);
  await add("decide", "first", "htt");
  await write("inputs.url", "https://shop.example/b");
  await add("request_2", "success", "wai");
  await add("decide", "otherwise", "hum");
  await write("human.title", "May it go on?");
  await add("approve", "approved", "set");
  await drag(page, port(page, "wait", "success").locator(".gv-dot"), card(page, "set_values"));
  count.drags++;
  await expectTopology(page);
  await expect(page.locator(".ds-problem-count")).not.toHaveAttribute("data-severity", "error");
  expect(count.clicks).toBeLessThanOrEqual(24);
  expect(count.drags).toBeLessThanOrEqual(1);
  expect(count.characters).toBeLessThanOrEqual(130);
});

test("the reference flow by keyboard alone: fifty-five keys at most", async ({ page }) => {
  await openNew(page);
  await card(page, "start").focus();
  let keys = 0;
  const press = async (...names: string[]) => {
    for (const name of names) await page.keyboard.press(name);
    keys += names.length;
  };
  const append = (what: string) => press("a", ...what, "Enter");
  await append("ht");
  await append("sw");
  await append("ht");
  await append("wa");
  await append("se");
  await press("ArrowLeft", "ArrowLeft", "ArrowLeft");
  await append("hu");
  await press("c", ..."set", "Enter");
  expect(keys).toBeLessThanOrEqual(55);
  await page.keyboard.press("F2");
  await page.keyboard.type("All done");
  await expectTopology(page);
  await expect(card(page, "set_values")).toContainText("All done");
});

test("an edge that would close a cycle is refused, with the reason", async ({ page }) => {
  await openNew(page);
  await port(page, "start", "success").click();
  await page.keyboard.type("wai");
  await page.keyboard.press("Enter");
  const [from, to] = [await middle(port(page, "wait", "success").locator(".gv-dot")), await middle(card(page, "start"))];
  await page.mouse.move(from.x, from.y);
  await page.mouse.down();
  await page.mouse.move(from.x + 30, from.y + 60, { steps: 3 });
  await page.mouse.move(to.x, to.y, { steps: 3 });
  await expect(page.locator(".ds-explain")).toContainText("would close a cycle");
  await page.mouse.up();
  await expect(page.locator(".gv-edge")).toHaveCount(1);
  await expect(page.locator(".ds-explain")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.locator(".ds-explain")).toBeHidden();
});

test("undo takes back canvas, form and text in one line, to the last byte", async ({ page }) => {
  const name = await openNew(page);
  await saved(page);
  const before = await draft(page, name);
  await page.locator('.ds-palette-item[data-type="wait"]').click();
  await card(page, "start").click();
  await page.locator('.ds-field[data-path="name"] input').fill("Begin");
  await page.getByLabel("Workflow as YAML").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.type("# the end");
  await saved(page);
  expect(await draft(page, name)).not.toBe(before);
  for (let i = 0; i < 3; i++) await page.keyboard.press("Control+z");
  await expect(page.getByRole("button", { name: "Undo" })).toBeDisabled();
  await saved(page);
  expect(await draft(page, name)).toBe(before);
});

test("broken YAML keeps the last good graph and says where", async ({ page }) => {
  await openNew(page);
  await page.getByLabel("Workflow as YAML").click();
  await page.keyboard.press("Control+Home");
  await page.keyboard.insertText("a: b: c\n");
  await expect(page.locator(".ds-stale")).toContainText("cannot be read");
  await expect(node(page, "start")).toBeVisible();
  await page.keyboard.press("Control+z");
  await expect(page.locator(".ds-stale")).toBeHidden();
});

test("a problem is listed, marked on its node and field, and jumped to", async ({ page }) => {
  await openNew(page);
  await page.locator('.ds-palette-item[data-type="http"]').click();
  await page.locator(".ds-problem-count").click();
  const jump = page.locator(".ds-problem-jump").first();
  await expect(jump).toContainText("request");
  await expect(node(page, "request")).toHaveAttribute("data-badge", "error");
  await jump.click();
  await expect(card(page, "request")).toBeVisible();
  await expect(page.locator(".ds-form-head h2")).toHaveText("request");
});

test("somebody else's save is never overwritten: edits apart are merged by themselves", async ({ page, context, expectNoise }) => {
  expectNoise(/412/);
  const name = await openNew(page);
  const other = await context.newPage();
  await other.goto(`/workflows/${name}/edit`);
  await expect(page.locator(".ds-people li")).toHaveCount(1);
  await expect(other.locator(".ds-people li")).toHaveCount(1);
  await other.locator('.ds-field[data-path="metadata.description"] textarea').fill("From the other tab");
  await card(page, "start").click();
  await page.locator('.ds-field[data-path="name"] input').fill("From this tab");
  await saved(other);
  await saved(page);
  await expect.poll(() => draft(page, name)).toContain("From the other tab");
  await expect.poll(() => draft(page, name)).toContain("From this tab");
  await expect(card(other, "start")).toContainText("From this tab");
  await other.close();
  await expect(page.locator(".ds-people li")).toHaveCount(0);
});

test("the same field changed in two tabs shows both values, and the choice is a person's", async ({ page, context, expectNoise }) => {
  expectNoise(/412/);
  const name = await openNew(page);
  await saved(page);
  await card(page, "start").click();
  await page.locator('.ds-field[data-path="name"] input').fill("First");
  await saved(page);
  const other = await context.newPage();
  await other.goto(`/workflows/${name}/edit`);
  await card(other, "start").click();
  await context.route("**/draft", (route) => (route.request().method() === "PUT" && route.request().frame().page() === page ? new Promise<void>((go) => setTimeout(go, 1500)).then(() => route.continue()) : route.continue()));
  await page.locator('.ds-field[data-path="name"] input').fill("Mine");
  await other.locator('.ds-field[data-path="name"] input').fill("Theirs");
  await saved(other);
  const notice = page.getByRole("alert", { name: "Conflicting changes" });
  await expect(notice).toContainText("name: Mine");
  await expect(notice).toContainText("name: Theirs");
  await context.unrouteAll({ behavior: "ignoreErrors" });
  await notice.getByLabel("Theirs").check();
  await notice.getByRole("button", { name: "Keep what is chosen" }).click();
  await saved(page);
  expect(await draft(page, name)).toContain("name: Theirs");
});

test("what a killed tab could not save comes back", async ({ page, context, expectNoise }) => {
  expectNoise(/net::ERR|Failed to load/);
  const name = await openNew(page);
  await saved(page);
  await context.route("**/draft", (route) => route.abort());
  await card(page, "start").click();
  await page.locator('.ds-field[data-path="name"] input').fill("Typed in the last second");
  await expect(page.locator("#designer-status")).toContainText("kept in this browser");
  await page.close({ runBeforeUnload: false });
  await context.unroute("**/draft");
  const again = await context.newPage();
  await again.goto(`/workflows/${name}/edit`);
  await expect(card(again, "start")).toContainText("Typed in the last second");
  await saved(again);
  expect(await draft(again, name)).toContain("Typed in the last second");
});

test("axe finds nothing serious, in light and dark", async ({ page }) => {
  test.slow();
  await openNew(page);
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await card(page, "start").click();
    await expect(page.getByLabel("Workflow as YAML")).toBeVisible();
    const { violations } = await new AxeBuilder({ page }).analyze();
    expect(violations.filter((v) => v.impact === "serious" || v.impact === "critical").map((v) => `${v.id}: ${v.nodes[0]?.html}`)).toEqual([]);
  }
});

test("a link away is followed once the work is saved", async ({ page }) => {
  const name = await openNew(page);
  await card(page, "start").click();
  await page.locator('.ds-field[data-path="name"] input').fill("Typed just now");
  await page.getByRole("link", { name: "Review and publish" }).click();
  await expect(page).toHaveURL(/\/review/);
  expect(await draft(page, name)).toContain("Typed just now");
});
