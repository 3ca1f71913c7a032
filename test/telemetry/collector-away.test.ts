// Tests turns of real processes while their collector is slow or broken.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { sampledCases, sampleStep } from '../samples.ts';
import { startCollector } from './collector.ts';
import { type Office, startOffice } from './start-office.ts';

setDefaultTimeout(120_000);

const ask = async (office: Office) => {
  const { status, text } = await office.post('ask something');
  return [status, (JSON.parse(text) as { response: string }).response];
};
const answered = [200, 'ANSWER-CANARY'];
const saidBy = ({ lines }: Office) =>
  lines.filter(({ event }) => event?.startsWith('telemetry')).map(({ level, message }) => `${level} ${message}`);

const troubles: readonly (readonly [string, () => Response | Promise<Response>, string])[] = [
  ['answers 500', () => new Response('', { status: 500 }), 'it answers 500'],
  ['answers 429', () => new Response('', { status: 429, headers: { 'retry-after': '3600' } }), 'it answers 429'],
  ['never answers', () => new Promise<Response>(() => undefined), 'the agent ends'],
];

test.each([...sampledCases(troubles, 3, 2)])(
  'a collector that %s: turns are answered, the end is not delayed, and it is reported once',
  async (_, answer, why) => {
    using collector = startCollector();
    collector.answer = answer;
    await using office = await startOffice({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    for (let count = 0; count < 3; count++) expect(await ask(office)).toEqual(answered);
    await office.stop();
    expect(collector.requests.length).toBeGreaterThan(0);
    const warnings = saidBy(office).filter((line) => line.startsWith('warn'));
    // Each of two processes reports once that the export fails, and once how many spans were dropped.
    const dropping = warnings.filter((line) =>
      line.includes(`dropped until the collector accepts them again (${why})`),
    );
    expect(dropping).toHaveLength(2);
    const counting = new RegExp(`^warn ${collector.url}/v1/traces: \\d+ spans were not exported\\.$`);
    expect(warnings.filter((line) => counting.test(line))).toHaveLength(2);
    expect(warnings).toHaveLength(4);
    expect(office.lines.filter(({ event }) => event === 'drain.late')).toEqual([]);
  },
);

test('a collector that repeats its key in an answer: the log does not show it', async () => {
  using collector = startCollector();
  const key = 'collector-key-0123456789';
  const errorMessage = `${key} may not write`;
  collector.answer = () => Response.json({ partialSuccess: { rejectedSpans: '2', errorMessage } });
  await using office = await startOffice({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: `api-key=${key}`,
  });
  expect(await ask(office)).toEqual(answered);
  await office.stop();
  expect(saidBy(office)).toContainEqual(
    expect.stringContaining('(the collector did not accept them: *** may not write)'),
  );
  expect(JSON.stringify(office.lines)).not.toContain(key);
});

// A unit test tries more wrong endpoints.
test.each(['ftp://example.org', 'not a URL'].slice(0, sampleStep === 1 ? 2 : 1))(
  'with the endpoint %p the swarm runs, and the problem is reported',
  async (endpoint) => {
    await using office = await startOffice({ OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    expect(saidBy(office)).toEqual([expect.stringContaining('warn OTEL_EXPORTER_OTLP_ENDPOINT is not a URL')]);
    expect(await ask(office)).toEqual(answered);
  },
);
