import type { AgentEvent } from '@goondan/types';
import type { Environment } from './variable-name.ts';

/**
 * The operator's settings for spans: where to send them and what to include. The settings are JSON, because agent
 * processes get them with their plan.
 */
export interface TelemetrySettings {
  /** The complete URL to which spans are posted. */
  readonly endpoint: string;
  /** HTTP headers. They may contain keys, so they must never be written down. */
  readonly headers: Readonly<Record<string, string>>;
  /** The time limit of one post. */
  readonly timeoutMs: number;
  /** Attributes of every span: `service.name` and the operator's own. */
  readonly resource: Readonly<Record<string, string>>;
  /** If true, messages, arguments and results are included. */
  readonly hasContent: boolean;
}

/** The telemetry of a swarm that exports spans. */
export interface SwarmTelemetry {
  /** The settings for the swarm's agent processes. */
  readonly settings: TelemetrySettings;
  /** Decides whether the trace of an input from outside is exported, and adds the decision to the input. */
  readonly sample: (event: AgentEvent) => AgentEvent;
}

export const endpointVariables = {
  traces: 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  everything: 'OTEL_EXPORTER_OTLP_ENDPOINT',
} as const;

/** Returns true if a collector is configured; otherwise the other settings need not be read. */
export function namesCollector(environment: Environment): boolean {
  return Object.values(endpointVariables).some((variable) => valueOf(environment, variable) !== undefined);
}

/** Returns a variable's value; an empty value counts as not set. */
export function valueOf(environment: Environment, name: string): string | undefined {
  const value = environment[name]?.trim();
  return value === '' ? undefined : value;
}

/** Returns an endpoint for display, without the parts that may contain a key. */
export function showEndpoint(endpoint: string): string {
  const { origin, pathname } = new URL(endpoint);
  return origin + pathname;
}
