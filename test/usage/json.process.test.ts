/** The usage that people and programs read with `--json`, of a question that three agents answer, on both stores. */
import { expect, setDefaultTimeout, test } from '../../packages/postgres/src/testing/with-postgres.ts';
import type { TokenUsage } from '@goondan/types';
import type { TurnReport } from '../../packages/cli/src/run/turn-report.ts';
import { GdnPlace } from '../../packages/cli/src/testing/gdn-place.ts';
import type { UsageReport } from '../../packages/cli/src/usage/sum-spendings.ts';
import { makeTestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { NO_USAGE, sumUsage } from '../../packages/runtime/src/ports/token-usage.ts';
import { sampledCases } from '../samples.ts';
import { countedBundle, models } from './bundle.ts';
import { startCountingServer } from './counting-server.ts';

setDefaultTimeout(90_000);

test.each(sampledCases(['PostgreSQL', 'files'], 2))(
  'Y-03 %s: gdn run, trace and usage with --json have the tokens that the server counted, cache reads and writes too',
  async (kind) => {
    await using server = startCountingServer();
    const place = new GdnPlace();
    await place.write('bundle', { 'goondan.yaml': countedBundle(server.url) });
    const database = kind === 'files' ? undefined : await makeTestDatabase({ hasTables: false });
    const token = 'only-the-nodes-of-a-test-know-this-token-0123456789';
    const env = { GOONDAN_STORE: database?.address, GOONDAN_CLUSTER_TOKEN: token };
    const gdn = async (...args: string[]) => {
      const { stdout, stderr, exitCode } = await place.runWith({ env }, ...args);
      expect(exitCode, stderr).toBe(0);
      return stdout;
    };
    if (database !== undefined) await gdn('store', 'init');
    const json = async (...args: string[]): Promise<unknown> =>
      JSON.parse(await gdn(...args, '--bundle', 'bundle', '--json'));

    const turn = (await json('run', '--trust', '--input', 'Go.')) as TurnReport;
    const counted = (agent: keyof typeof models) => server.counted.get(models[agent])?.usage ?? NO_USAGE;
    const called = sumUsage(counted('b'), counted('c'));
    const whole = sumUsage(counted('a'), called);
    expect(whole.cachedInputTokens).toBeGreaterThan(0);
    expect(whole.cacheWriteTokens).toBeGreaterThan(0);
    expect([filled(turn.usage), filled(turn.called)]).toEqual([filled(whole), filled(called)]);

    const { turns } = (await json('trace', 'last')) as { readonly turns: readonly Partial<TurnReport>[] };
    expect([filled(turns[0]?.usage), filled(turns[0]?.called)]).toEqual([filled(whole), filled(called)]);

    const { rows, total } = (await json('usage')) as UsageReport;
    expect(new Map(rows.map(({ agent, usage }) => [agent, filled(usage)]))).toEqual(
      new Map((['a', 'b', 'c'] as const).map((agent) => [agent, filled(counted(agent))])),
    );
    expect(filled(total.usage)).toEqual(filled(whole));
    await database?.drop();
    expect(await place.remove()).toEqual([]);
  },
);

/** A count that is absent is 0 here: the server always counts the cache. */
function filled(usage: TokenUsage = NO_USAGE): TokenUsage {
  return { cachedInputTokens: 0, cacheWriteTokens: 0, ...usage };
}
