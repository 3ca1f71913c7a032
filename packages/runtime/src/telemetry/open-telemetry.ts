/** The telemetry of one agent process. This module is imported only if spans are exported. */
import { VERSION } from '../config/version.ts';
import type { TurnListener } from '../trace/watch-turn.ts';
import { toRequest } from './otlp.ts';
import { postSpansTo } from './post-spans.ts';
import { SpanExporter, type SpanExporterDeps } from './span-exporter.ts';
import { showEndpoint, type TelemetrySettings } from '../config/telemetry-settings.ts';
import type { TurnPlace } from './turn-place.ts';
import { TurnSpans } from './turn-spans.ts';

// `fetch` is read when this module is loaded, before any bundle code runs, because bundle code may replace the global
// function.
const send = globalThis.fetch;
const { pid } = process;

/** `modelRef`: the agent's own model; the first of `models` when absent. */
export type SpannedAgent = Pick<TurnPlace, 'models'> & { readonly modelRef?: string };

/** Opens the telemetry. */
export function openTelemetry(
  settings: TelemetrySettings,
  { clock, report }: Pick<SpanExporterDeps, 'clock' | 'report'>,
) {
  const { endpoint, hasContent, resource } = settings;
  const swarm = resource['goondan.swarm'] ?? '';
  const ofProcess = {
    ...resource,
    'process.pid': pid,
    'telemetry.sdk.name': 'goondan',
    'telemetry.sdk.language': 'nodejs',
    'telemetry.sdk.version': VERSION,
  };
  const scope = { name: '@goondan/runtime', version: VERSION };
  const exporter = new SpanExporter({
    post: postSpansTo(settings, clock, (url, request) => send(url, request)),
    toBody: (spans) => toRequest(ofProcess, scope, spans),
    clock,
    random: Math.random,
    report: (level, message) => report(level, `${showEndpoint(endpoint)}: ${message}`),
  });
  return {
    /** Creates the listener for one turn of the agent. */
    listen: ({ models, modelRef = Object.keys(models)[0] ?? '' }: SpannedAgent): TurnListener =>
      new TurnSpans({ swarm, modelRef, models, hasContent }, (source) => exporter.add(source)),
    /** Sends the remaining spans, within `withinMs`. Never rejects. */
    finish: (withinMs: number) => exporter.finish(withinMs),
  };
}
