/**
 * Reads OpenTelemetry's environment variables once, when a swarm starts. Only the operator can set these variables, not
 * a bundle or its `.env`. Agent processes get the resulting settings with their plan, never the variables. Pure.
 */
import { unlessThrows } from '../ports/unless-throws.ts';
import { readSampler } from './read-sampler.ts';
import { endpointVariables, namesCollector, type TelemetrySettings, valueOf } from '../config/telemetry-settings.ts';
import type { Environment } from '../config/variable-name.ts';

/**
 * Reads the settings and the sampler; both are undefined when no spans are exported. `swarm`: the name of the swarm,
 * which is the service name unless the operator has set another. `warnings`: texts about settings that are ignored.
 * They do not contain the values of headers.
 */
export function readTelemetrySettings(environment: Environment, swarm: string) {
  const warnings: string[] = [];
  const warn = (warning: string) => void warnings.push(warning);
  const isWanted = namesCollector(environment) && !isTurnedOff(environment, warn);
  const endpoint = isWanted ? endpointOf(environment, warn) : undefined;
  if (endpoint === undefined) return { settings: undefined, sampler: undefined, warnings };
  warnAboutProtocol(environment, warn);
  const settings: TelemetrySettings = {
    endpoint,
    headers: headersOf(environment, warn),
    timeoutMs: timeoutOf(environment, warn),
    resource: resourceOf(environment, swarm, warn),
    hasContent: wantsContent(environment, warn),
  };
  return { settings, sampler: readSampler(environment, warn), warnings };
}

type Warn = (warning: string) => void;

function isTurnedOff(environment: Environment, warn: Warn): boolean {
  if (valueOf(environment, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return true;
  const exporters = (valueOf(environment, 'OTEL_TRACES_EXPORTER') ?? 'otlp').split(',').map((each) => each.trim());
  if (exporters.includes('otlp')) return false;
  if (!exporters.includes('none')) {
    warn('OTEL_TRACES_EXPORTER names an unknown exporter; it must be `otlp` or `none`. No spans are exported.');
  }
  return true;
}

/**
 * Returns the endpoint for traces as it is set. If only the general endpoint is set, adds the path for traces to it.
 */
function endpointOf(environment: Environment, warn: Warn): string | undefined {
  const { traces, everything } = endpointVariables;
  const variable = valueOf(environment, traces) === undefined ? everything : traces;
  const url = URL.parse(valueOf(environment, variable) ?? '');
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    warn(`${variable} is not a URL with http: or https:. No spans are exported.`);
    return undefined;
  }
  if (variable === everything) url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url.href;
}

/**
 * Warns when the operator set a protocol other than `http/json`. Spans are sent as `http/json` anyway, which every
 * collector accepts.
 */
function warnAboutProtocol(environment: Environment, warn: Warn): void {
  const name = firstSet(environment, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_PROTOCOL');
  const protocol = name && valueOf(environment, name);
  if (protocol === undefined || protocol === 'http/json') return;
  warn(
    `${name} is "${protocol.slice(0, 40)}", but only http/json is supported, so spans are sent as http/json. ` +
      'A collector accepts http/json at its HTTP port, usually 4318.',
  );
}

/** Reads the headers. A header for traces replaces a general header of the same name. */
function headersOf(environment: Environment, warn: Warn): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const variable of ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS']) {
    for (const [name, value] of pairsOf(environment, variable, warn)) {
      if (isHeader(name, value)) headers[name.toLowerCase()] = value;
      else warn(`${variable} has something that is not a header; it is ignored.`);
    }
  }
  return headers;
}

function isHeader(name: string, value: string): boolean {
  return unlessThrows(() => new Headers([[name, value]]).has(name)) ?? false;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const LONGEST_TIMEOUT_MS = 60_000;

function timeoutOf(environment: Environment, warn: Warn): number {
  const name = firstSet(environment, 'OTEL_EXPORTER_OTLP_TRACES_TIMEOUT', 'OTEL_EXPORTER_OTLP_TIMEOUT');
  const text = name && valueOf(environment, name);
  if (text === undefined) return DEFAULT_TIMEOUT_MS;
  const timeoutMs = Number(text);
  if (timeoutMs > 0) return Math.min(timeoutMs, LONGEST_TIMEOUT_MS);
  warn(`${name} is not a number of milliseconds above 0; ${DEFAULT_TIMEOUT_MS} is used.`);
  return DEFAULT_TIMEOUT_MS;
}

function resourceOf(environment: Environment, swarm: string, warn: Warn): Record<string, string> {
  const given = Object.fromEntries(pairsOf(environment, 'OTEL_RESOURCE_ATTRIBUTES', warn));
  const service = valueOf(environment, 'OTEL_SERVICE_NAME') ?? given['service.name'] ?? swarm;
  return { ...given, 'service.name': service, 'goondan.swarm': swarm };
}

const CONTENT = 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT';

/** Accepts only `true`, so that a typing mistake does not export people's messages. */
function wantsContent(environment: Environment, warn: Warn): boolean {
  const text = valueOf(environment, CONTENT)?.toLowerCase() ?? 'false';
  if (text === 'true') return true;
  if (text !== 'false') warn(`${CONTENT} is neither "true" nor "false": no contents are exported.`);
  return false;
}

/** The maximum number of pairs in one variable; further pairs are left out. */
const MOST_PAIRS = 64;

/** Parses `name=value,name=value`, in which special characters of values are percent-encoded. */
function pairsOf(environment: Environment, variable: string, warn: Warn): (readonly [string, string])[] {
  const texts = (valueOf(environment, variable) ?? '').split(',').filter((text) => text.trim() !== '');
  if (texts.length > MOST_PAIRS) warn(`${variable} has more than ${MOST_PAIRS} entries; the others are ignored.`);
  return texts.slice(0, MOST_PAIRS).flatMap((text, index) => {
    const at = text.indexOf('=');
    const value = unlessThrows(() => decodeURIComponent(text.slice(at + 1).trim()));
    if (at > 0 && value !== undefined) return [[text.slice(0, at).trim(), value] as const];
    warn(`${variable}: entry ${index + 1} is not name=value; it is ignored.`);
    return [];
  });
}

function firstSet(environment: Environment, ...names: readonly string[]): string | undefined {
  return names.find((name) => valueOf(environment, name) !== undefined);
}
