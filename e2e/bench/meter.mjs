// Main-thread processor time of one thing done in the page: the thread's own clock
// (CDP "threadTicks"), from just before until the frames that follow are out. It does
// not count what other programs do meanwhile.

export class Meter {
  static async of(page) {
    const cdp = await page.context().newCDPSession(page);
    await cdp.send('Performance.enable', { timeDomain: 'threadTicks' });
    return new Meter(page, cdp);
  }

  constructor(page, cdp) {
    this.page = page;
    this.cdp = cdp;
  }

  /** Milliseconds that the main thread worked for `act`. */
  async spent(act) {
    await this.settle();
    const before = await this.taskTime();
    await act();
    await this.settle();
    return Math.max(0, (await this.taskTime()) - before);
  }

  /** What measuring itself costs: the same, with nothing done. */
  async calibrate(rounds = 20) {
    const idle = [];
    for (let i = 0; i < rounds; i++) idle.push(await this.spent(async () => undefined));
    this.idle = idle.sort((a, b) => a - b)[Math.floor(rounds / 2)];
  }

  async each(rounds, act) {
    const all = [];
    for (let i = 0; i < rounds; i++) all.push(Math.max(0, (await this.spent(() => act(i))) - (this.idle ?? 0)));
    const sorted = [...all].sort((a, b) => a - b);
    return { mean: all.reduce((a, b) => a + b, 0) / rounds, p95: sorted[Math.ceil(rounds * 0.95) - 1] };
  }

  async heap() {
    await this.cdp.send('HeapProfiler.collectGarbage');
    return (await this.metric('JSHeapUsedSize')) / 1024 / 1024;
  }

  elements() {
    return this.page.evaluate(() => document.getElementsByTagName('*').length);
  }

  async taskTime() {
    return (await this.metric('TaskDuration')) * 1000;
  }

  async metric(name) {
    const { metrics } = await this.cdp.send('Performance.getMetrics');
    return metrics.find((m) => m.name === name).value;
  }

  settle() {
    return this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))));
  }
}
