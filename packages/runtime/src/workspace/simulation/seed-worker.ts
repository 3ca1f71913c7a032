/** A thread that simulates the seeds it is sent. */
import { simulate } from './simulate.ts';

declare const self: Worker;

self.onmessage = async ({ data: seed }: MessageEvent<number>) => {
  self.postMessage(await simulate(seed));
};
