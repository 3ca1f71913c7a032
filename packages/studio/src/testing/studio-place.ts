/** For tests: the demo swarm and `gdn studio` in separate processes, and browser pages that show Studio. */
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { GdnPlace } from '../../../cli/src/testing/gdn-place.ts';

export class StudioPlace {
  readonly place = new GdnPlace();
  /** Errors that the browser reported: script errors, and violations of the content security policy. */
  readonly complaints: string[] = [];
  url = '';
  #studio: ReturnType<GdnPlace['start']> | undefined;
  readonly #browser: Browser;
  readonly #contexts: BrowserContext[] = [];

  /** The caller must close the browser, because several places can share one browser. */
  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Writes the demo's bundle and runs it. */
  async runDemo(): Promise<void> {
    await this.gdn('init', 'swarm', '--template', 'demo');
    await this.gdn('run', 'swarm', '--trust', '--detach');
  }

  async openStudio(...args: string[]): Promise<void> {
    this.#studio = this.place.start('studio', ...args, '--no-open', '--json');
    const line = await firstLine(this.#studio.stdout);
    ({ url: this.url } = JSON.parse(line) as { url: string });
  }

  async closeStudio(): Promise<void> {
    this.#studio?.kill('SIGINT');
    await this.#studio?.exited;
  }

  async openPage(colorScheme: 'light' | 'dark' = 'light'): Promise<Page> {
    const viewport = { width: 1440, height: 900 };
    // An animation would make every window draw sixty times a second.
    const context = await this.#browser.newContext({ viewport, colorScheme, reducedMotion: 'reduce' });
    this.#contexts.push(context);
    const page = await context.newPage();
    page.setDefaultTimeout(60_000);
    page.on('pageerror', (error) => void this.complaints.push(error.message));
    page.on('console', (message) => {
      if (message.type() === 'error') this.complaints.push(message.text());
    });
    await page.goto(this.url);
    return page;
  }

  async gdn(...args: string[]): Promise<string> {
    const { stdout, stderr, exitCode } = await this.place.run(...args);
    if (exitCode !== 0) throw new Error(`gdn ${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** Stops everything. Returns descriptions of leftover processes and files; empty when there are none. */
  async close(bundle = 'swarm'): Promise<string[]> {
    await Promise.all(this.#contexts.map((context) => context.close()));
    await this.closeStudio();
    await this.place.run('stop', '--bundle', bundle);
    return this.place.remove();
  }
}

async function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    text += decoder.decode(bytes, { stream: true });
    const [line, rest] = text.split('\n', 2);
    if (line !== undefined && rest !== undefined) return line;
  }
  throw new Error(`It ended after "${text}".`);
}
