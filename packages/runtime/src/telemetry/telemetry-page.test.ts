// Compares docs/telemetry.md with the sources: the variables that are read, and the attributes that are sent.
import { expect, test } from 'bun:test';
import { isTest, readRepository } from '../../../../test/read-repository.ts';
import { exporterLimits } from './span-exporter.ts';

const [page] = readRepository('docs/telemetry.md').map(({ text }) => text);
const sources = readRepository('packages/runtime/src/**/*.ts').filter(({ path }) => !isTest(path));
const own = sources.filter(({ path }) => /\/telemetry\/|\/telemetry-settings\.ts$/.test(path));

function namesIn(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map(([, name = '']) => name))].toSorted();
}

test('every variable that is read is on the page, and no other', () => {
  const read = namesIn(own.map(({ text }) => text).join('\n'), /'(OTEL_[A-Z_]+)'/g);
  expect(read.length).toBeGreaterThan(10);
  expect(namesIn(page ?? '', /\b(OTEL_[A-Z_]+)\b/g)).toEqual(read);
});

test('every attribute that is sent is on the page, and no other', () => {
  const names = /'((?:gen_ai|goondan|error|service|process|telemetry)\.[a-z_.]+)'/g;
  const sent = namesIn(own.map(({ text }) => text).join('\n'), names);
  expect(sent.length).toBeGreaterThan(30);
  expect(namesIn(page ?? '', /`((?:gen_ai|goondan|error|service|process|telemetry)\.[a-z_.]+)`/g)).toEqual(sent);
});

test('the exporter has these limits', () => {
  const { mostWaiting, longestWaiting, mostInPost, longestPost, retryForMs, gatherMs } = exporterLimits;
  expect({ mostWaiting, longestWaiting, mostInPost, longestPost, retryForMs, gatherMs }).toEqual({
    mostWaiting: 4_096,
    longestWaiting: 16_000_000,
    mostInPost: 512,
    longestPost: 1_000_000,
    retryForMs: 30_000,
    gatherMs: 500,
  });
});

test('only the settings are loaded before spans are exported: the rest is imported when needed', () => {
  const eager = sources
    .filter(({ path }) => !path.includes('/telemetry/'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/^(?:import|export) (?!type )[^;]*?from '([^']*\/telemetry\/[^']+)';/gm)].map(
        ([, from = '']) => `${path}: ${from.replace(/.*\//, '')}`,
      ),
    );
  expect(eager).toEqual(['packages/runtime/src/internal.ts: probe-collector.ts']);
  const probe = own.find(({ path }) => path.endsWith('/probe-collector.ts'))?.text ?? '';
  expect([...probe.matchAll(/^import (?!type )[^;]*?from '([^']+)';/gm)].map(([, from]) => from)).toEqual([
    '../ports/clock.ts',
    '../config/telemetry-settings.ts',
  ]);
});
