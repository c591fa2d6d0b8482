// The main job, as a person does it: draw, review, publish, run by form, watch live,
// approve in the inbox, see it completed. Once by mouse, once by keyboard alone.
import { DesignerPage, tabTo } from "./designer-page";
import { expect, test } from "./quiet";

test.setTimeout(600_000);

const slow = { timeout: 30_000 };

test("by mouse", async ({ page, baseURL }) => {
  const designer = new DesignerPage(page);
  await page.goto("/workflows");
  await page.getByRole("link", { name: "New workflow" }).click();
  await page.getByLabel("Name").fill(`travel-request-${Date.now().toString(36)}`);
  await page.getByRole("button", { name: "Open the designer" }).click();
  await expect(designer.node("start")).toBeVisible(slow);

  // The input of the workflow makes the form that starts it.
  const input = page.locator('.ds-field[data-path="spec.input"]');
  await input.getByRole("button", { name: "Add a field" }).click();
  await input.getByLabel("Name").last().fill("amount");
  await input.getByLabel("Type").last().selectOption("integer");

  // Start → http, dragged onto the canvas and connected by dragging.
  const start = (await designer.node("start").boundingBox())!;
  await designer.drag(designer.palette("http"), { x: start.x + 420, y: start.y + 160 });
  await designer.field("name").fill("Look up the trip");
  await designer.field("inputs.url").fill(`${baseURL}/healthz`);
  await designer.connect("start", "success", "request");

  // → switch, clicked: it comes after the selected activity.
  await designer.card("request").click();
  await designer.palette("switch").click();
  const cases = page.locator('.ds-field[data-path="switch.cases"] input');
  await cases.nth(0).fill("large");
  await cases.nth(1).fill("inputs.amount > 100");
  await designer.field("switch.default").fill("small");

  // small → http → wait 5 s → set
  await designer.addAfter("decide", "small", "http");
  await designer.field("inputs.url").fill(`${baseURL}/healthz`);
  await designer.palette("wait").click();
  await expect(designer.field("wait.timer.after")).toHaveValue("5");
  await designer.palette("set").click();
  await designer.field("name").fill("Note the result");

  // large → a person → the same set
  await designer.fit();
  await designer.addAfter("decide", "large", "human");
  await designer.field("human.title").fill("May this trip be booked?");
  await designer.fit();
  await designer.connect("approve", "approved", "set_values");

  await designer.saved();
  await page.screenshot({ path: "shots/designer-main-job.png" });
  await page.getByRole("link", { name: "Review and publish" }).click();
  await expect(page.getByRole("heading", { name: "What it affects" })).toBeVisible(slow);
  await page.getByLabel("Message").fill("The first way to ask for a trip");
  await page.screenshot({ path: "shots/review.png" });
  await page.getByRole("button", { name: "Publish version 1" }).click();

  await page.getByRole("link", { name: "Run", exact: true }).first().click();
  await page.getByLabel("Amount").fill("180");
  await page.getByRole("button", { name: "Run version 1" }).click();

  // Live, without a reload: the page itself says when a person is asked.
  const standing = page.locator(".standing-first");
  await expect(standing).toContainText("Waiting for a person", slow);
  await page.screenshot({ path: "shots/execution-waiting.png" });
  const execution = page.url();
  const inbox = await page.context().newPage();
  await inbox.goto("/tasks");
  await inbox.getByRole("link", { name: "May this trip be booked?" }).first().click();
  await inbox.getByLabel("Comment").fill("Enjoy it");
  await inbox.screenshot({ path: "shots/task.png" });
  await inbox.getByRole("button", { name: "Approve" }).click();
  await expect(inbox.getByText("What happened next")).toBeVisible(slow);
  await inbox.screenshot({ path: "shots/task-decided.png" });
  await inbox.close();

  await expect(standing).toContainText("Completed in", slow);
  expect(page.url()).toBe(execution);
  await page.screenshot({ path: "shots/execution-completed.png", fullPage: true });

  // The other branch waits by itself, and says so instead of looking busy.
  await page.getByRole("link", { name: /, version 1$/ }).click();
  await page.getByRole("link", { name: "Run", exact: true }).first().click();
  await page.getByLabel("Amount").fill("20");
  await page.getByRole("button", { name: "Run version 1" }).click();
  await expect(standing).toContainText("Waiting", slow);
  await expect(standing).toContainText("Completed in", slow);
});

test("by keyboard alone", async ({ page, baseURL }) => {
  await page.goto("/new");
  const press = (key: string) => page.keyboard.press(key);
  await tabTo(page, page.getByLabel("Name"));
  await page.keyboard.type(`key-request-${Date.now().toString(36)}`);
  await press("Enter");
  const designer = new DesignerPage(page);
  await expect(designer.node("start")).toBeVisible(slow);
  await press("Control+Shift+G");
  await append("http");
  await fillField("inputs.url", `${baseURL}/healthz`);
  await append("switch");
  await append("http", "otherwise");
  await fillField("inputs.url", `${baseURL}/healthz`);
  await append("wait");
  await append("set");
  await chooseNode("decide");
  await append("human", "first");
  await press("c");
  await page.keyboard.type("set_values");
  await press("Enter");
  await designer.saved();

  await tabTo(page, page.getByRole("link", { name: "Review and publish" }), "Shift+Tab");
  await press("Enter");
  const publish = page.getByRole("button", { name: "Publish version 1" });
  await expect(publish).toBeVisible(slow);
  await tabTo(page, publish);
  await press("Enter");
  const run = page.getByRole("link", { name: "Run", exact: true }).first();
  await expect(run).toBeVisible(slow);
  await tabTo(page, run);
  await press("Enter");
  const start = page.getByRole("button", { name: "Run version 1" });
  await expect(start).toBeVisible(slow);
  await tabTo(page, start);
  await press("Enter");

  const standing = page.locator(".standing-first");
  await expect(standing).toContainText("Waiting for a person", slow);
  await tabTo(page, page.getByRole("link", { name: "Open the task" }).first());
  await press("Enter");
  const approve = page.getByRole("button", { name: "Approve" });
  await expect(approve).toBeVisible(slow);
  await tabTo(page, approve);
  await press("Enter");
  await expect(page.getByText("What happened next")).toBeVisible(slow);
  const back = page.locator('main a[href^="/executions/"]').first();
  await tabTo(page, back);
  await press("Enter");
  await expect(standing).toContainText("Completed in", { timeout: 60_000 });

  /** Adds an activity after the active one: A, its type, Enter; Shift+A when the port matters. */
  async function append(type: string, port?: string): Promise<void> {
    await press("Control+Shift+G");
    await press(port ? "Shift+A" : "a");
    if (port) {
      await page.keyboard.type(port);
      await press("Enter");
    }
    await page.keyboard.type(type);
    await press("Enter");
  }

  async function fillField(path: string, text: string): Promise<void> {
    await press("Control+Shift+G");
    await press("Enter");
    await tabTo(page, designer.field(path));
    await press("Control+A");
    await page.keyboard.type(text);
    await press("Escape");
  }

  async function chooseNode(name: string): Promise<void> {
    await press("Control+Shift+G");
    await press("/");
    await page.keyboard.type(name);
    await press("Enter");
  }
});
