import { afterEach } from 'bun:test';

/** Returns a function that remembers what a test has started. It is stopped after the test. */
export function stopAfterEach(): <Started extends { stop(): Promise<void> }>(started: Started) => Started {
  const running: { stop(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const each of running.splice(0)) await each.stop();
  });
  return (started) => {
    running.push(started);
    return started;
  };
}
