/** A worker thread that simulates each seed it receives. */
import { simulate } from './simulate.ts';

declare const self: Worker;

self.onmessage = async ({ data: seed }: MessageEvent<number>) => {
  self.postMessage(await simulate(seed));
};
