// The designer as the tests use it: by what a person sees.
import { expect, type BrowserContext, type Locator, type Page } from "@playwright/test";

export class DesignerPage {
  constructor(readonly page: Page) {}

  node(id: string): Locator {
    return this.page.locator(`.gv-node[data-key="${id}"]`);
  }

  card(id: string): Locator {
    return this.node(id).locator(".gv-card");
  }

  port(id: string, port: string): Locator {
    return this.node(id).locator(`.gv-port[data-port="${port}"]`);
  }

  palette(type: string): Locator {
    return this.page.locator(`.ds-palette-item[data-type="${type}"]`);
  }

  field(path: string): Locator {
    return this.page.locator(`.ds-field[data-path="${path}"] :is(input, textarea, select)`).first();
  }

  /** From the middle of one thing to a point of the window, as a hand would move. */
  async drag(from: Locator, to: { x: number; y: number }): Promise<void> {
    const start = await middle(from);
    await this.page.mouse.move(start.x, start.y);
    await this.page.mouse.down();
    await this.page.mouse.move((start.x + to.x) / 2, to.y + 20, { steps: 4 });
    await this.page.mouse.move(to.x, to.y, { steps: 4 });
    await this.page.mouse.up();
  }

  /** Draws an edge from a port to an activity. */
  async connect(from: string, port: string, to: string): Promise<void> {
    await this.drag(this.port(from, port).locator(".gv-dot"), await middle(this.card(to)));
    await expect(this.page.locator(`.gv-edge[data-edge="${from}.${port}->${to}"]`)).toHaveCount(1);
  }

  /** Adds an activity after a port, chosen by typing. */
  async addAfter(from: string, port: string, type: string): Promise<void> {
    await this.port(from, port).click();
    await this.page.keyboard.type(type);
    await this.page.keyboard.press("Enter");
  }

  /** The whole graph in view: what is far outside is not even drawn. */
  async fit(): Promise<void> {
    await this.page.keyboard.press("Control+Shift+G");
    await this.page.keyboard.press("1");
  }

  async saved(): Promise<void> {
    await expect(this.page.locator("#designer-status")).toHaveText("Saved", { timeout: 15_000 });
  }
}

async function middle(locator: Locator): Promise<{ x: number; y: number }> {
  const box = (await locator.boundingBox())!;
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

/** Presses Tab until the control has the keyboard; fails when it cannot be reached. */
export async function tabTo(page: Page, target: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    if (await target.evaluate((e) => e === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} never reaches ${target}`);
}

let made = 0;

/** Saves a text as the draft of a workflow with a name of its own, and answers the name. */
export async function saveDraft(page: Page, text: (name: string) => string): Promise<string> {
  const name = `given-${Date.now().toString(36)}-${++made}`;
  const answer = await page.request.put(`/api/v1/workflows/${name}/draft`, {
    headers: { Authorization: `Bearer ${process.env.E2E_TOKEN}`, "Content-Type": "application/yaml", "If-None-Match": "*" },
    data: text(name),
  });
  expect(answer.status(), await answer.text()).toBe(200);
  return name;
}

/** Opens the designer on a text saved before. */
export async function openText(page: Page, text: (name: string) => string): Promise<string> {
  const name = await saveDraft(page, text);
  await page.goto(`/workflows/${name}/edit`);
  await expect(page.locator(".gv-stage")).toBeVisible();
  return name;
}

/** The draft as the server has it. */
export async function draftOf(page: Page, name: string): Promise<string> {
  const answer = await page.request.get(`/api/v1/workflows/${name}/draft`, { headers: { Authorization: `Bearer ${process.env.E2E_TOKEN}` } });
  expect(answer.status()).toBe(200);
  return answer.text();
}

/** Changes the draft as another person would, and answers the status. */
export async function saveOver(context: BrowserContext, name: string, change: (draft: string) => string): Promise<number> {
  const headers = { Authorization: `Bearer ${process.env.E2E_TOKEN}` };
  const before = await context.request.get(`/api/v1/workflows/${name}/draft`, { headers });
  const answer = await context.request.put(`/api/v1/workflows/${name}/draft`, {
    headers: { ...headers, "Content-Type": "application/yaml", "If-Match": before.headers().etag! }, data: change(await before.text()),
  });
  return answer.status();
}

/** A definition with these activities, given as lines of a YAML list. */
export function workflow(activities: string, more = ""): (name: string) => string {
  const list = activities.trim().replace(/^(?=.)/gm, "    ");
  return (name) => `apiVersion: weftline/v1\nkind: Workflow\nmetadata:\n  name: ${name}\nspec:\n${more}  activities:\n${list}\n`;
}
