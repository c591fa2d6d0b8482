// `make bench-ui`: what the canvas costs the main thread, beside React Flow and
// diagram-js on the same graph in the same run; then the whole designer on a
// definition of 1,000 activities. Prints a table; see docs/benchmarks.md.
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import { definition, sample } from './graph.mjs';
import { Meter } from './meter.mjs';

const { chromium } = createRequire(join(import.meta.dirname, '../package.json'))('@playwright/test');
const here = import.meta.dirname;
const [nodes, edges] = [1000, 1400];
const rounds = Number(process.env.ROUNDS ?? 30);
const graph = sample(nodes, edges);
const work = mkdtempSync(join(tmpdir(), 'weftline-bench-ui-'));
chmodSync(work, 0o711);

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--disable-gpu', '--no-first-run', '--disable-background-networking', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])],
});
try {
  const rows = [];
  for (const name of (process.env.CANDIDATES ?? 'weftline,react-flow,diagram-js').split(',')) rows.push(await canvas(name));
  print(rows);
  if (process.env.WHOLE !== 'no') print([await designer()]);
} finally {
  await browser.close();
  rmSync(work, { recursive: true, force: true });
}

async function canvas(name) {
  const entry = join(here, 'candidates', { weftline: 'weftline.ts', 'react-flow': 'react-flow.jsx', 'diagram-js': 'diagram-js.js' }[name]);
  await build({ entryPoints: [entry], bundle: true, minify: true, format: 'iife', outfile: join(work, `${name}.js`), define: { 'process.env.NODE_ENV': '"production"' }, logLevel: 'error' });
  const css = name === 'weftline' ? ['tokens', 'states', 'graph', 'designer-test'].map((f) => readFileSync(join(here, '../../static/css', `${f}.css`), 'utf8')).join('\n') : readFileSync(join(work, `${name}.css`), 'utf8');
  const html = `<!doctype html><meta charset=utf-8><title>${name}</title><style>${css}
    html,body{margin:0;height:100%} #host{width:100vw;height:100vh}
    .card{width:200px;height:62px;padding:0 10px;border:1px solid #999;border-radius:10px;background:#fff;font:13px sans-serif}.card span,.card i{display:block}</style><div id=host></div><script>${readFileSync(join(work, `${name}.js`), 'utf8').replaceAll('</script', '<\\/script')}</script>`;
  const server = createServer((_, res) => res.writeHead(200, { 'content-type': 'text/html' }).end(html));
  await new Promise((up) => server.listen(0, '127.0.0.1', up));
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  const meter = await Meter.of(page);
  await meter.calibrate();
  await page.evaluate((g) => void (window.given = g), graph); // bringing it here is no part of drawing it
  const heap = await meter.heap();
  const row = { what: name };
  row['first render'] = await meter.spent(async () => {
    await page.evaluate(() => window.mount(document.getElementById('host'), window.given));
    await page.waitForTimeout(200);
  }) - meter.idle;
  row['heap MB'] = (await meter.heap()) - heap;
  await page.mouse.move(200, 80);
  await page.mouse.down();
  await page.mouse.move(210, 86);
  row.drag = await meter.each(rounds, (i) => page.mouse.move(215 + i * 4, 90 + (i % 7) * 6));
  await page.mouse.up();
  await page.mouse.move(700, 750);
  row.pan = await meter.each(rounds, (i) => page.mouse.wheel(i % 2 ? 24 : 36, i % 3 ? 12 : -12));
  row['50 states'] = await meter.each(10, (i) => page.evaluate((round) => window.states(round), i));
  row['elements at zoom 1'] = await meter.elements();
  await page.evaluate(() => window.fitAll());
  await page.waitForTimeout(300);
  row['pan, all in sight'] = await meter.each(rounds, (i) => page.mouse.wheel(i % 2 ? 20 : -20, i % 3 ? 10 : -10));
  await page.keyboard.down('Control');
  row['zoom, all in sight'] = await meter.each(rounds, (i) => page.mouse.wheel(0, i % 2 ? 8 : -8));
  await page.keyboard.up('Control');
  row['elements, all in sight'] = await meter.elements();
  if (name === 'weftline') {
    await page.evaluate(() => window.live());
    await page.waitForTimeout(300);
    row['50 states of an execution'] = await meter.each(10, (i) => page.evaluate((round) => window.states(round), i));
  }
  if (name === 'weftline') row['layout of all'] = await meter.each(5, () => page.evaluate(() => window.layout()));
  await page.close();
  server.close();
  return row;
}

/** The product itself: opened on a large draft, and a large definition pasted into an empty one. */
async function designer() {
  const address = await serve();
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const meter = await Meter.of(page);
  await save(address, 'bench-large', definition('bench-large', graph));
  await save(address, 'bench-empty', 'apiVersion: weftline/v1\nkind: Workflow\nmetadata:\n  name: bench-empty\nspec:\n  activities: []\n');
  await page.addInitScript(() => localStorage.setItem('weftline:code', 'off'));
  await page.goto(`${address}/workflows/bench-empty/edit`);
  await page.locator('.gv-stage').waitFor();
  await meter.calibrate();
  const empty = await meter.heap();
  const row = { what: 'designer, 1,000 activities' };
  const text = definition('bench-empty', graph);
  const started = Date.now();
  row['paste: processor'] = await meter.spent(() => page.evaluate(async (yaml) => {
    document.querySelector('.gv-stage').focus();
    const data = new DataTransfer();
    data.setData('text/plain', yaml);
    document.dispatchEvent(new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }));
    await new Promise((shown) => {
      const look = () => (document.querySelector('.gv-card') ? shown() : requestAnimationFrame(look));
      look();
    });
  }, text));
  row['paste: on screen (wall)'] = Date.now() - started;
  await page.waitForTimeout(500);
  row['heap MB'] = (await meter.heap()) - empty;
  row.elements = await meter.elements();
  row['undo of the paste'] = await meter.spent(() => page.keyboard.press('Control+z'));
  await page.goto(`${address}/workflows/bench-large/edit`);
  await page.locator('.gv-card').first().waitFor();
  await page.waitForTimeout(1500);
  const box = await page.locator('.gv-card').first().boundingBox();
  await page.mouse.move(box.x + 60, box.y + 20);
  await page.mouse.down();
  await page.mouse.move(box.x + 70, box.y + 30);
  row.drag = await meter.each(rounds, (i) => page.mouse.move(box.x + 72 + i * 3, box.y + 34 + (i % 5) * 4));
  await page.mouse.up();
  await page.evaluate(() => localStorage.setItem('weftline:code', 'below'));
  await page.locator('select[aria-label="Where the YAML stands"]').selectOption('below');
  await page.getByLabel('Workflow as YAML').click();
  await page.waitForTimeout(1000);
  row['a key typed in the YAML'] = await meter.each(20, () => page.keyboard.press('x'));
  await page.close();
  return row;
}

async function serve() {
  const server = spawn(join(here, '../../bin/weftline'), ['serve', '--addr', '127.0.0.1:0', '--data-dir', join(work, 'data')], {
    env: { ...process.env, WEFTLINE_BOOTSTRAP_TOKEN: 'bench-ui-0123456789', WEFTLINE_LOG_LEVEL: 'info' }, stdio: ['ignore', 'pipe', 'pipe'],
  });
  process.on('exit', () => server.kill('SIGTERM'));
  return new Promise((resolve, refuse) => {
    const hear = (chunk) => {
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(String(chunk));
      if (found) resolve(found[0]);
    };
    server.stdout.on('data', hear);
    server.stderr.on('data', hear);
    server.on('exit', (code) => refuse(new Error(`the server ended with ${code}`)));
  });
}

async function save(address, name, text) {
  const answer = await fetch(`${address}/api/v1/workflows/${name}/draft`, {
    method: 'PUT', body: text, headers: { Authorization: 'Bearer bench-ui-0123456789', 'Content-Type': 'application/yaml', 'If-None-Match': '*' },
  });
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`);
}

function print(rows) {
  const names = [...new Set(rows.flatMap((r) => Object.keys(r)))].filter((n) => n !== 'what');
  console.log(`| ms of main-thread time, mean / p95 | ${rows.map((r) => r.what).join(' | ')} |`);
  console.log(`|---|${rows.map(() => '---').join('|')}|`);
  for (const name of names) console.log(`| ${name} | ${rows.map((r) => words(r[name])).join(' | ')} |`);
  console.log();
}

function words(value) {
  if (value === undefined) return '';
  if (typeof value === 'number') return value >= 100 ? value.toFixed(0) : value.toFixed(1);
  return `${value.mean.toFixed(1)} / ${value.p95.toFixed(1)}`;
}
