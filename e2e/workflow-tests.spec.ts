// The test cases of a workflow: listed on its page, run with one click, results and coverage.
import { expect, test } from "./quiet";

const auth = { Authorization: `Bearer ${process.env.E2E_TOKEN}` };

test("the tests of an example run with one click", async ({ page }) => {
  await page.goto("/workflows/order-saga");
  const section = page.locator("#workflow-tests");
  await expect(section.getByRole("row")).toHaveCount(3);
  await section.getByRole("button", { name: "Run the tests" }).click();
  await expect(page.getByRole("heading", { name: "All 2 cases passed" })).toBeVisible();
  await expect(page.locator(".tests-percent")).toContainText("100%");
  await expect(page.getByText("Compensated")).toBeVisible();
});

test("a case that fails says what differs and in which line", async ({ page, request }) => {
  const text = `apiVersion: weftline/v1
kind: Workflow
metadata: {name: tested}
spec:
  activities:
    - {id: ask, type: human, human: {title: Sure?, candidates: {users: [ann]}, due: 1h}}
    - {id: say, type: set, needs: [ask.rejected], outputs: {word: '"no"'}}
---
apiVersion: weftline/v1
kind: WorkflowTest
metadata: {name: tested}
spec:
  cases:
    - name: rejected
      script: [{at: 5m, human: ask, outcome: rejected, by: ann}]
      expect: {path: [ask], duration: 10m}
`;
  const saved = await request.put("/api/v1/workflows/tested/draft", {
    headers: { ...auth, "Content-Type": "application/yaml", "If-None-Match": "*" }, data: text,
  });
  expect(saved.status()).toBe(200);
  await page.goto("/workflows/tested/tests");
  await page.getByRole("button", { name: "Run the tests" }).click();
  await expect(page.getByText("the path is ask → say, expected ask")).toBeVisible();
  await expect(page.getByText("it took 5m, expected 10m")).toBeVisible();
  await expect(page.getByText("ask.approved, ask.expired")).toBeVisible();
  if (process.env.E2E_SHOTS) {
    for (const [name, width, scheme] of [["light", 1440, "light"], ["dark", 1440, "dark"], ["phone", 360, "light"]] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.setViewportSize({ width, height: 800 });
      await page.screenshot({ path: `${process.env.E2E_SHOTS}/tests-${name}.png`, fullPage: true });
    }
  }
});
