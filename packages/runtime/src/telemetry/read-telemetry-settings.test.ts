import { describe, expect, test } from 'bun:test';
import { readTelemetrySettings } from './read-telemetry-settings.ts';
import { namesCollector } from '../config/telemetry-settings.ts';

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' };
const read = (environment: Record<string, string>) => readTelemetrySettings(environment, 'shop');
const settingsOf = (environment: Record<string, string>) => read({ ...endpoint, ...environment }).settings;
const warningsOf = (environment: Record<string, string>) => read({ ...endpoint, ...environment }).warnings;

describe('the collector', () => {
  test.each([
    ['http://localhost:4318', 'http://localhost:4318/v1/traces'],
    ['http://localhost:4318/', 'http://localhost:4318/v1/traces'],
    ['https://example.org/otlp//', 'https://example.org/otlp/v1/traces'],
    ['https://example.org/otlp?team=a', 'https://example.org/otlp/v1/traces?team=a'],
  ])('%s gets spans at %s', (given, used) => {
    expect(read({ OTEL_EXPORTER_OTLP_ENDPOINT: given })).toMatchObject({ settings: { endpoint: used }, warnings: [] });
  });

  test('the endpoint for traces takes precedence, and is used unchanged', () => {
    const given = { ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://example.org/in' };
    expect(read(given).settings?.endpoint).toBe('https://example.org/in');
  });

  test('without an endpoint, or with an empty one, no setting is read', () => {
    for (const environment of [{}, { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }, { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }]) {
      expect(namesCollector(environment)).toBe(false);
      expect(read(environment as Record<string, string>)).toEqual({
        settings: undefined,
        sampler: undefined,
        warnings: [],
      });
    }
    expect(namesCollector(endpoint)).toBe(true);
  });

  test.each(['collector', 'localhost:4318', 'ftp://example.org', 'unix:///x', 'http://', '%%%'])(
    '%p is not an endpoint: a warning, and nothing is exported',
    (text) => {
      const { settings, warnings } = read({ OTEL_EXPORTER_OTLP_ENDPOINT: text });
      expect(settings).toBeUndefined();
      expect(warnings).toEqual([
        'OTEL_EXPORTER_OTLP_ENDPOINT is not a URL with http: or https:. No spans are exported.',
      ]);
    },
  );

  test.each([{ OTEL_SDK_DISABLED: 'true' }, { OTEL_SDK_DISABLED: 'TRUE' }, { OTEL_TRACES_EXPORTER: 'none' }])(
    '%p turns the export off without a warning',
    (environment) => {
      expect(read({ ...endpoint, ...environment })).toEqual({ settings: undefined, sampler: undefined, warnings: [] });
    },
  );

  test('another exporter is not supported, and not replaced by this one', () => {
    const { settings, warnings } = read({ ...endpoint, OTEL_TRACES_EXPORTER: 'zipkin' });
    expect([settings, warnings.length]).toEqual([undefined, 1]);
    expect(settingsOf({ OTEL_TRACES_EXPORTER: 'console, otlp' })).toBeDefined();
  });

  test.each(['grpc', 'http/protobuf'])('%s is not supported: a warning, and http/json is used', (protocol) => {
    const { settings, warnings } = read({ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: protocol });
    expect(settings).toBeDefined();
    expect(warnings).toEqual([expect.stringContaining(`"${protocol}", but only http/json is supported`)]);
    expect(
      warningsOf({ OTEL_EXPORTER_OTLP_PROTOCOL: protocol, OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json' }),
    ).toEqual([]);
  });
});

describe('headers', () => {
  test('are decoded; those for traces take precedence', () => {
    const given = {
      OTEL_EXPORTER_OTLP_HEADERS: ' Api-Key = one , x-tenant=a%20b,, x-both=1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'X-Both=2',
    };
    expect(settingsOf(given)?.headers).toEqual({ 'api-key': 'one', 'x-tenant': 'a b', 'x-both': '2' });
  });

  test.each(['nothing', '=secret', 'na me=secret', 'name=a%0d%0ab', 'name=%zz'])(
    '%p is not a header: it is left out, and its value is not in the warning',
    (text) => {
      const { settings, warnings } = read({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: `api-key=one,${text}` });
      expect(settings?.headers).toEqual({ 'api-key': 'one' });
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).not.toContain(text);
    },
  );

  test('have a limit', () => {
    const many = Array.from({ length: 100 }, (_, index) => `h${index}=1`).join(',');
    expect(Object.keys(settingsOf({ OTEL_EXPORTER_OTLP_HEADERS: many })?.headers ?? {})).toHaveLength(64);
  });
});

test.each([
  ['250', 250, 0],
  ['600000', 60_000, 0],
  ['soon', 10_000, 1],
  ['-1', 10_000, 1],
  ['0', 10_000, 1],
])('a timeout of %p is %p ms', (text, timeoutMs, warnings) => {
  expect(settingsOf({ OTEL_EXPORTER_OTLP_TIMEOUT: text })?.timeoutMs).toBe(timeoutMs);
  expect(warningsOf({ OTEL_EXPORTER_OTLP_TIMEOUT: text })).toHaveLength(warnings);
});

test("the service has the operator's name for it, or else the swarm's", () => {
  const nameOf = (environment: Record<string, string>) => settingsOf(environment)?.resource['service.name'];
  const attributes = { OTEL_RESOURCE_ATTRIBUTES: 'service.name=desk,deployment.environment.name=test%2C1' };
  expect(nameOf({})).toBe('shop');
  expect(nameOf(attributes)).toBe('desk');
  expect(nameOf({ ...attributes, OTEL_SERVICE_NAME: 'office' })).toBe('office');
  expect(settingsOf(attributes)?.resource).toEqual({
    'service.name': 'desk',
    'deployment.environment.name': 'test,1',
    'goondan.swarm': 'shop',
  });
});

test.each([
  [undefined, false, 0],
  ['true', true, 0],
  ['True', true, 0],
  ['false', false, 0],
  ['yes', false, 1],
  ['1', false, 1],
])('contents asked for with %p: %p', (text, hasContent, warnings) => {
  const given: Record<string, string> =
    text === undefined ? {} : { OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: text };
  expect(settingsOf(given)?.hasContent).toBe(hasContent);
  expect(warningsOf(given)).toHaveLength(warnings);
});
