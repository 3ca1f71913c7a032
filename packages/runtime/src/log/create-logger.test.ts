import { describe, expect, test } from 'bun:test';
import { extension, scriptedAgent } from '../testing/index.ts';
import type { LogLevel } from '../ports/log-line.ts';
import { createLogger } from './create-logger.ts';

function openLogger() {
  const lines: [level: LogLevel, message: string][] = [];
  let now = 0;
  const logger = createLogger(
    (level, message) => lines.push([level, message]),
    () => now,
  );
  return { logger, lines, pass: (ms: number) => (now += ms) };
}

/** Every method of the Console standard, and those that Node adds. */
const consoleMethods = [
  ...['assert', 'clear', 'count', 'countReset', 'debug', 'dir', 'dirxml', 'error', 'group', 'groupCollapsed'],
  ...['groupEnd', 'info', 'log', 'table', 'time', 'timeEnd', 'timeLog', 'trace', 'warn'],
  ...['profile', 'profileEnd', 'timeStamp'],
] as const;

describe('the logger', () => {
  test.each(consoleMethods)('X-15 has %s, and it works without the logger in front of it', (method) => {
    const { [method]: run } = openLogger().logger;
    // The methods take different arguments, but none may throw for a single text.
    expect(() => (run as (text: string) => void)('text')).not.toThrow();
  });

  test.each([
    ['log', 'info'],
    ['info', 'info'],
    ['debug', 'debug'],
    ['warn', 'warn'],
    ['error', 'error'],
  ] as const)('X-15 %s writes a line of level %s', (method, level) => {
    const { logger, lines } = openLogger();
    logger[method]('Processing step', { stepIndex: 3 });
    expect(lines).toEqual([[level, 'Processing step { stepIndex: 3 }']]);
  });

  test('X-15 fills in placeholders as the console does', () => {
    const { logger, lines } = openLogger();
    logger.info('%s has %d cups, %j', 'Mina', 2, { of: 'tea' });
    expect(lines).toEqual([['info', 'Mina has 2 cups, {"of":"tea"}']]);
  });

  test('X-15 shows an error with its message and its place', () => {
    const { logger, lines } = openLogger();
    logger.error('Failed to load state', new RangeError('no disk'));
    expect(lines[0]?.[1]).toStartWith('Failed to load state RangeError: no disk');
    expect(lines[0]?.[1]).toContain('create-logger.test.ts');
  });

  test('X-15 trace shows the place of the call', () => {
    const { logger, lines } = openLogger();
    logger.trace('here');
    expect(lines[0]?.[0]).toBe('debug');
    expect(lines[0]?.[1]).toMatch(/^here .*create-logger\.test\.ts/s);
  });

  test('X-15 assert logs only when it fails', () => {
    const { logger, lines } = openLogger();
    logger.assert(true, 'fine');
    logger.assert(false, 'not %s', 'fine');
    expect(lines).toEqual([['error', 'Assertion failed not %s fine']]);
  });

  test('X-15 dir, dirxml and table show values', () => {
    const { logger, lines } = openLogger();
    logger.dir({ a: 1 });
    logger.dirxml('x', 2);
    logger.table([{ cups: 2 }]);
    logger.table('no rows');
    expect(lines.map(([, message]) => message)).toEqual([
      '{ a: 1 }',
      'x 2',
      expect.stringMatching(/cups.*2/s),
      'no rows',
    ]);
  });

  test('X-15 groups indent, also when they are ended too often', () => {
    const { logger, lines } = openLogger();
    logger.group('outer');
    logger.groupCollapsed('inner');
    logger.info('deep');
    logger.groupEnd();
    logger.groupEnd();
    logger.groupEnd();
    logger.info('flat');
    expect(lines.map(([, message]) => message)).toEqual(['outer', '  inner', '    deep', 'flat']);
  });

  test('X-15 counts, from one again after a reset', () => {
    const { logger, lines } = openLogger();
    logger.count();
    logger.count('tea');
    logger.count('tea');
    logger.countReset('tea');
    logger.count('tea');
    expect(lines.map(([, message]) => message)).toEqual(['default: 1', 'tea: 1', 'tea: 2', 'tea: 1']);
  });

  test('X-15 measures times', () => {
    const { logger, lines, pass } = openLogger();
    logger.time('tea');
    pass(12.5);
    logger.timeLog('tea', 'steeping');
    pass(1);
    logger.timeEnd('tea');
    logger.timeEnd('tea');
    expect(lines).toEqual([
      ['info', 'tea: 12.500ms steeping'],
      ['info', 'tea: 13.500ms'],
      ['warn', 'Timer "tea" does not exist'],
    ]);
  });

  test('forgets the oldest name when there are very many', () => {
    const { logger, lines } = openLogger();
    logger.count('oldest');
    for (let number = 0; number < 1_000; number++) logger.count(`name-${number}`);
    logger.count('oldest');
    expect(lines.at(-1)).toEqual(['info', 'oldest: 1']);
  });
});

describe('a line in the log', () => {
  test('X-15 carries time, level, agent, instance, extension and, in a turn, the ids of turn and trace', async () => {
    const agent = await scriptedAgent({
      agentName: 'coder',
      instanceKey: 'room-1',
      extensions: [
        extension('chatty', ({ logger, pipeline }) => {
          logger.info('registering');
          pipeline.register('turn', (ctx) => {
            logger.warn('in a turn');
            return ctx.next();
          });
        }),
      ],
    });
    await agent.say('hello', { event: { id: 'e1', traceId: 'trace-7' } });
    const who = { time: expect.any(String), agent: 'coder', instance: 'room-1', extension: 'chatty' };
    expect(agent.logs).toEqual([
      { ...who, level: 'info', message: 'registering' },
      { ...who, level: 'warn', message: 'in a turn', turnId: 'turn-e1', traceId: 'trace-7' },
    ]);
    expect(agent.logs.map(({ time }) => new Date(time).toISOString())).toEqual(agent.logs.map(({ time }) => time));
  });

  test('X-15 a tool logs under its agent', async () => {
    const agent = await scriptedAgent({
      agentName: 'coder',
      script: [{ when: 'go', call: { tool: 'thing__do' } }, { say: 'done' }],
      tools: [
        {
          name: 'thing',
          exports: [{ name: 'do', description: 'Does it.' }],
          handlers: { do: ({ logger }) => logger.debug('doing') },
        },
      ],
    });
    await agent.say('go');
    expect(agent.logs).toEqual([
      expect.objectContaining({ level: 'debug', message: 'doing', agent: 'coder', turnId: 'turn-event-1' }),
    ]);
  });

  test('is cut when it is very long, after its secrets are masked: no half of one is left', async () => {
    const secret = 'sk-live-0123456789abcdef';
    const agent = await scriptedAgent({
      secrets: [secret],
      extensions: [
        extension('chatty', ({ logger }) => {
          logger.info('x'.repeat(20_000));
          logger.info('x'.repeat(16_375) + secret);
        }),
      ],
    });
    const [long, edge] = agent.logs.map(({ message }) => message);
    expect(long).toBe(`${'x'.repeat(16_384)}… (20000 characters)`);
    expect(edge).toBe(`${'x'.repeat(16_375)}***`);
  });
});
