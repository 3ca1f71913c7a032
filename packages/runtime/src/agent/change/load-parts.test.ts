import { describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExtensionRegister } from '@goondan/types';
import { extension, extensionFile, manualClock, scriptedAgent } from '../../testing/index.ts';
import { startAgent } from '../start/start-agent.ts';
import { until } from '../../../../../test/until.ts';

/** Creates an extension that records when it registers and when it cleans up. */
function noisy(name: string, said: string[], more: { register?: () => unknown; cleanup?: () => unknown } = {}) {
  const register: ExtensionRegister = async () => {
    said.push(`${name} begins`);
    await more.register?.();
    said.push(`${name} is ready`);
    return async () => {
      said.push(`${name} leaves`);
      await more.cleanup?.();
      said.push(`${name} is gone`);
    };
  };
  return extension(name, register);
}

/** The docs show async listeners, although Node's type of a listener returns void. */
function onExit(listener: () => unknown): void {
  process.on('beforeExit', listener);
}

describe('the extensions of an agent', () => {
  test('X-01 X-02 register one after the other, in the order they are declared', async () => {
    const said: string[] = [];
    const agent = await scriptedAgent({
      extensions: [
        noisy('slow', said, { register: () => Bun.sleep(5) }),
        noisy('quick', said),
        noisy('last', said, { register: () => Bun.sleep(1) }),
      ],
    });
    expect(said).toEqual([
      'slow begins',
      'slow is ready',
      'quick begins',
      'quick is ready',
      'last begins',
      'last is ready',
    ]);
    expect(agent.agent.extensions).toEqual(['slow', 'quick', 'last']);
  });

  test('one whose register does not settle is named in the log, and one that settles is not', async () => {
    const clock = manualClock();
    const registered = Promise.withResolvers<void>();
    const lines: string[] = [];
    const started = startAgent(
      {
        agentName: 'tested',
        models: { 'Model/main': { provider: 'scripted', model: 's', options: { script: [{ say: 'hi' }] } } },
        extensions: [noisy('quick', []), noisy('stuck', [], { register: () => registered.promise })],
      },
      { clock, logSink: ({ level, message, extension: of }) => void lines.push(`${level} ${of}: ${message}`) },
    );
    await until(() => clock.pending !== 0);
    await clock.advance(10_000);
    registered.resolve();
    await (await started).close();
    expect(lines).toEqual([
      'warn stuck: Extension/stuck is still being loaded after 3 s: its import or its register has not settled.',
    ]);
  });

  test('X-02 the order of declaration is the order of the layers', async () => {
    const layer = (name: string) => extension(name, ({ pipeline }) => pipeline.register('turn', (ctx) => ctx.next()));
    const agent = await scriptedAgent({ extensions: [layer('c'), layer('a'), layer('b')] });
    expect(agent.layers('turn')).toEqual(['c/turn', 'a/turn', 'b/turn']);
  });

  test('X-03 when one fails, later ones do not start and earlier ones are cleaned up, last first', async () => {
    const said: string[] = [];
    const started = scriptedAgent({
      extensions: [
        noisy('first', said),
        noisy('second', said),
        noisy('broken', said, { register: () => Promise.reject(new Error('no')) }),
        noisy('never', said),
      ],
    });
    expect(await started.catch((error: unknown) => error)).toMatchObject({ code: 'E_EXT_INIT' });
    expect(said.slice(4)).toEqual([
      'broken begins',
      'second leaves',
      'second is gone',
      'first leaves',
      'first is gone',
    ]);
  });

  test('exit listeners of the failed one are removed from the process, and not called', async () => {
    const before = process.listeners('beforeExit');
    const called: string[] = [];
    const started = scriptedAgent({
      extensions: [
        extension('broken', () => {
          onExit(() => called.push('called'));
          throw new Error('no');
        }),
      ],
    });
    expect(await started.catch((error: unknown) => error)).toMatchObject({ code: 'E_EXT_INIT' });
    expect(process.listeners('beforeExit')).toEqual(before);
    expect(called).toEqual([]);
  });

  test('X-03 a cleanup that hangs or fails does not hide the error', async () => {
    const clock = manualClock();
    const said: string[] = [];
    const started = scriptedAgent({
      clock,
      extensions: [
        noisy('fails', said, { cleanup: () => Promise.reject(new Error('stuck')) }),
        noisy('hangs', said, { cleanup: () => new Promise(() => undefined) }),
        noisy('broken', said, { register: () => Promise.reject(new Error('no')) }),
      ],
    });
    const error = started.catch((thrown: unknown) => thrown);
    await clock.advance(5_000);
    expect(await error).toMatchObject({ code: 'E_EXT_INIT' });
    expect(said).toContain('fails leaves');
  });
});

describe('the cleanup of extensions', () => {
  test.each<[string, (said: string[]) => ExtensionRegister]>([
    ['a function', (said) => () => () => void said.push('cleaned')],
    [
      'an async function',
      (said) => () => async () => {
        await Bun.sleep(1);
        said.push('cleaned');
      },
    ],
    ['a promise of a function', (said) => async () => () => void said.push('cleaned')],
    [
      'a beforeExit listener',
      (said) => () => {
        onExit(async () => {
          await Bun.sleep(1);
          said.push('cleaned');
        });
      },
    ],
  ])('X-17 close() calls and awaits %s, once', async (_title, makeRegister) => {
    const said: string[] = [];
    const before = process.listeners('beforeExit');
    const agent = await scriptedAgent({ extensions: [extension('tidy', makeRegister(said))] });
    expect(said).toEqual([]);
    await agent.close();
    expect(said).toEqual(['cleaned']);
    await agent.close();
    expect(said).toEqual(['cleaned']);
    expect(process.listeners('beforeExit')).toEqual(before);
  });

  test('X-17 close() calls beforeExit listeners whenever they were added, at module level too', async () => {
    const root = mkdtempSync(join(tmpdir(), 'gdn-exit-'));
    const said: string[] = [];
    Object.assign(globalThis, { saidAtExit: said });
    const add = (what: string) => `process.on('beforeExit', async () => {
      await Bun.sleep(1);
      globalThis.saidAtExit.push('${what}');
    });`;
    const entry = `
      ${add('module')}
      export function register(api) {
        ${add('register')}
        api.events.on('turn.started', () => { ${add('handler')} });
        api.pipeline.register('step', (ctx) => { ${add('layer')} return ctx.next(); });
        setTimeout(() => { ${add('timer')} }, 1);
        return () => { ${add('cleanup')} };
      }`;
    writeFileSync(join(root, 'late.ts'), entry);
    const before = process.listeners('beforeExit');
    const agent = await scriptedAgent({ extensions: [extensionFile('late', root, './late.ts')] });
    await Bun.sleep(5);
    await agent.say('hello');
    await agent.close();
    expect(said).toEqual(['module', 'register', 'timer', 'handler', 'layer', 'cleanup']);
    await agent.close();
    expect(said).toHaveLength(6);
    expect(process.listeners('beforeExit')).toEqual(before);
    rmSync(root, { recursive: true });
  });

  test('module-level listeners of an extension that fails are removed, and not called', async () => {
    const root = mkdtempSync(join(tmpdir(), 'gdn-exit-'));
    writeFileSync(join(root, 'broken.ts'), `process.on('beforeExit', () => {}); throw new Error('no');`);
    const before = process.listeners('beforeExit');
    const started = scriptedAgent({ extensions: [extensionFile('broken', root, './broken.ts')] });
    expect(await started.catch((error: unknown) => error)).toMatchObject({ code: 'E_EXT_LOAD' });
    expect(process.listeners('beforeExit')).toEqual(before);
    rmSync(root, { recursive: true });
  });

  test('a late listener that fails or hangs is reported, and the others run', async () => {
    const clock = manualClock();
    const said: string[] = [];
    const agent = await scriptedAgent({ clock });
    onExit(() => Promise.reject(new Error('lost it')));
    onExit(() => void said.push('second'));
    onExit(() => new Promise(() => undefined));
    const closed = agent.close(1_000);
    await clock.advance(1_000);
    await closed;
    expect(said).toEqual(['second']);
    expect(agent.logs.map(({ event, extension: who, message }) => [event, who, message])).toEqual([
      ['extension.cleanup_failed', undefined, 'a beforeExit listener failed: lost it'],
      ['extension.cleanup_failed', undefined, 'a beforeExit listener was not finished within 1000 ms'],
    ]);
  });

  test('an agent calls only its own listeners, not those of its program or of another agent', async () => {
    const said: string[] = [];
    const tidy = (name: string) => extension(name, () => onExit(() => said.push(name)));
    const plan = {
      agentName: 'embedded',
      models: { 'Model/none': { generate: () => Promise.reject(new Error('no')) } },
    };
    const embedded = await startAgent({ ...plan, extensions: [tidy('embedded')] });
    const first = await scriptedAgent();
    const second = await scriptedAgent({ extensions: [tidy('second')] });
    await first.close();
    expect(said).toEqual([]);
    const ofProgram = () => void said.push('program');
    process.on('beforeExit', ofProgram);
    await embedded.close();
    expect(said).toEqual(['embedded']);
    process.off('beforeExit', ofProgram);
    await second.close();
    expect(said).toEqual(['embedded', 'second']);
  });

  test('X-17 an extension that returns something else than a function has no cleanup', async () => {
    // Types do not check an extension in plain JavaScript.
    const register = (() => 'bye') as unknown as ExtensionRegister;
    const agent = await scriptedAgent({ extensions: [extension('odd', register)] });
    await agent.close();
    expect(agent.logs).toEqual([]);
  });

  test('runs one after the other, last loaded first', async () => {
    const said: string[] = [];
    const agent = await scriptedAgent({
      extensions: [noisy('first', said), noisy('second', said, { cleanup: () => Bun.sleep(2) })],
    });
    said.length = 0;
    await agent.close();
    expect(said).toEqual(['second leaves', 'second is gone', 'first leaves', 'first is gone']);
  });

  test('X-17 is reported when it throws, and does not stop the others', async () => {
    const said: string[] = [];
    const agent = await scriptedAgent({
      extensions: [
        noisy('first', said),
        extension('sync', () => () => {
          throw new Error('dropped it');
        }),
        noisy('async', said, { cleanup: () => Promise.reject(new Error('lost it')) }),
      ],
    });
    await agent.close();
    expect(said).toContain('first is gone');
    expect(agent.logs.map(({ level, event, extension: who, message }) => [level, event, who, message])).toEqual([
      ['error', 'extension.cleanup_failed', 'async', 'cleanup failed: lost it'],
      ['error', 'extension.cleanup_failed', 'sync', 'cleanup failed: dropped it'],
    ]);
  });

  test('X-17 a cleanup or listener that throws does not stop the other listeners of its extension', async () => {
    const said: string[] = [];
    const agent = await scriptedAgent({
      extensions: [
        extension('messy', () => {
          onExit(() => Promise.reject(new Error('second')));
          onExit(() => said.push('third'));
          return () => Promise.reject(new Error('first'));
        }),
      ],
    });
    await agent.close();
    expect(said).toEqual(['third']);
    expect(agent.logs.map(({ message }) => message)).toEqual(['cleanup failed: first; second']);
  });

  test('X-17 is abandoned when it hangs until the grace is over; the others were still called', async () => {
    const clock = manualClock();
    const said: string[] = [];
    const agent = await scriptedAgent({
      clock,
      extensions: [noisy('first', said), noisy('hangs', said, { cleanup: () => new Promise(() => undefined) })],
    });
    const closed = agent.close(1_000).then(() => said.push('closed'));
    await clock.advance(999);
    expect(said).not.toContain('closed');
    await clock.advance(1);
    await closed;
    expect(said.slice(4)).toEqual(['hangs leaves', 'first leaves', 'first is gone', 'closed']);
    expect(agent.logs).toContainEqual(
      expect.objectContaining({ extension: 'hangs', message: 'cleanup was not finished within 1000 ms' }),
    );
    expect(clock.pending).toBe(0);
  });
});
