/** For tests: an extension of this package, and agents that are closed after each test. */
import { afterEach } from 'bun:test';
import { join } from 'node:path';
import { extensionFile, type ScriptedAgent, scriptedAgent } from '@goondan/runtime/testing';

const base = join(import.meta.dir, '..', '..');

/** Declares an extension of this package, as a bundle does. `as`: its name in the bundle. */
export function baseExtension(name: string, config: object = {}, as = name) {
  return extensionFile(as, base, `./src/extensions/${name}/register.ts`, { ...config });
}

/** Returns a function that starts agents. They are closed after each test of the file. */
export function agentOpener(): typeof scriptedAgent {
  const opened: ScriptedAgent[] = [];
  afterEach(async () => {
    for (const agent of opened.splice(0)) await agent.close();
  });
  return async (options) => {
    const agent = await scriptedAgent(options);
    opened.push(agent);
    return agent;
  };
}
