/** A collector for OTLP/JSON over real HTTP that keeps its requests, and can misbehave on demand. */

export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
  readonly status: { readonly code?: number; readonly message?: string };
}

interface Received {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: ReceivedSpan['attributes'] };
    readonly scopeSpans: readonly { readonly scope: object; readonly spans: readonly ReceivedSpan[] }[];
  }[];
}

export interface Collector extends Disposable {
  readonly url: string;
  readonly requests: { readonly path: string; readonly headers: Headers; readonly body: string }[];
  spans(): readonly ReceivedSpan[];
  resources(): readonly Readonly<Record<string, unknown>>[];
  /** Creates each response from now on. If undefined, the collector responds normally. */
  answer: ((count: number) => Response | Promise<Response>) | undefined;
}

export function startCollector(): Collector {
  const requests: Collector['requests'] = [];
  const taken: string[] = [];
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      const body = await request.text();
      requests.push({ path: new URL(request.url).pathname, headers: request.headers, body });
      if (collector.answer !== undefined) return collector.answer(requests.length);
      taken.push(body);
      return Response.json({});
    },
  });
  const received = () => taken.flatMap((body) => (JSON.parse(body) as Received).resourceSpans);
  const collector: Collector = {
    url: `http://127.0.0.1:${server.port}`,
    requests,
    answer: undefined,
    spans: () => received().flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)),
    resources: () => received().map(({ resource }) => attributesOf(resource)),
    [Symbol.dispose]: () => void server.stop(true),
  };
  return collector;
}

/** Returns the attributes of a span as plain values. */
export function attributesOf({ attributes }: Pick<ReceivedSpan, 'attributes'>): Readonly<Record<string, unknown>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

function plain(value: Readonly<Record<string, unknown>>): unknown {
  const [[type, held] = []] = Object.entries(value);
  if (type === 'intValue') return Number(held);
  // The cast is safe: OTLP defines this format.
  return type === 'arrayValue' ? (held as { values: Record<string, unknown>[] }).values.map(plain) : held;
}
