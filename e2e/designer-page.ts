// The designer as the tests use it: by what a person sees.
import { expect, type Locator, type Page } from "@playwright/test";

export class DesignerPage {
  constructor(readonly page: Page) {}

  node(name: string): Locator {
    return this.page.locator(".gv-node").filter({ has: this.page.locator(".gv-name", { hasText: new RegExp(`^${name}$`) }) });
  }

  port(node: string, port: string): Locator {
    return this.node(node).getByRole("button", { name: `Add after ${node}, ${port}` });
  }

  palette(type: string): Locator {
    return this.page.locator(`.ds-palette-item[data-type="${type}"]`);
  }

  field(path: string): Locator {
    return this.page.locator(`.ds-field[data-path="${path}"] :is(input, textarea, select)`).first();
  }

  /** From the middle of one thing to a point of the window, as a hand would move. */
  async drag(from: Locator, to: { x: number; y: number }): Promise<void> {
    const box = (await from.boundingBox())!;
    await this.page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await this.page.mouse.down();
    await this.page.mouse.move(to.x - 30, to.y, { steps: 4 });
    await this.page.mouse.move(to.x, to.y, { steps: 3 });
    await this.page.mouse.up();
  }

  /** Draws an edge from a port to an activity. */
  async connect(from: string, port: string, to: string): Promise<void> {
    const target = (await this.node(to).boundingBox())!;
    const dot = this.port(from, port).locator(".gv-dot");
    await this.drag(dot, { x: target.x + target.width / 3, y: target.y + 20 });
  }

  async saved(): Promise<void> {
    await expect(this.page.locator("#designer-status")).toContainText(/saved/i, { timeout: 15_000 });
  }
}

/** Presses Tab until the control has the keyboard; fails when it cannot be reached. */
export async function tabTo(page: Page, target: Locator, key: "Tab" | "Shift+Tab" = "Tab"): Promise<void> {
  for (let presses = 0; presses < 120; presses++) {
    if (await target.evaluate((e) => e === document.activeElement)) return;
    await page.keyboard.press(key);
  }
  throw new Error(`${key} never reaches ${target}`);
}
