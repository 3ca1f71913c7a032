/** npm packages for tests, as folders, tarballs, and in a registry on this machine. No network is needed. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GdnPlace } from './gdn-place.ts';

/** A package of Goondan with one tool. */
export const weatherTool = `apiVersion: goondan.ai/v1
kind: Tool
metadata: { name: weather }
spec:
  entry: ./weather.ts
  exports: [{ name: get, description: The weather., parameters: { type: object } }]
`;

const handlers = `export const handlers = { get: () => 'sunny' };\n`;

export interface SamplePackage {
  readonly name: string;
  readonly version?: string;
  /** The text of `goondan.yaml`; the package has none when absent. */
  readonly manifest?: string;
  readonly scripts?: Readonly<Record<string, string>>;
}

/** Writes the package, and returns its folder. */
export function writePackage(place: GdnPlace, folder: string, sample: SamplePackage): Promise<string> {
  const { name, version = '1.0.0', manifest, scripts = {} } = sample;
  return place.write(folder, {
    'package.json': JSON.stringify({ name, version, scripts, main: 'weather.ts' }),
    'weather.ts': handlers,
    ...(manifest === undefined ? {} : { 'goondan.yaml': manifest }),
  });
}

/** Packs the package as `npm pack` does, in a hundredth of the time, and returns the path of the tarball. */
export async function packPackage(place: GdnPlace, folder: string): Promise<string> {
  const inside = join(place.folder, folder);
  const files = [...new Bun.Glob('*').scanSync(inside)].map(
    (path) => [path, readFileSync(join(inside, path))] as const,
  );
  const { name, version }: { name: string; version: string } = await Bun.file(join(inside, 'package.json')).json();
  const tarball = join(inside, `${name.replace('@', '').replace('/', '-')}-${version}.tgz`);
  const contents = Object.fromEntries(files.map(([path, bytes]) => [`package/${path}`, bytes]));
  await Bun.write(tarball, new Bun.Archive(contents, { compress: 'gzip' }));
  return tarball;
}

/** Settings that keep npm off the network, and its cache out of the home folder. */
export function offline(place: GdnPlace): Record<string, string> {
  return {
    npm_config_cache: join(place.folder, 'npm-cache'),
    npm_config_audit: 'false',
    npm_config_update_notifier: 'false',
    npm_config_offline: 'true',
  };
}

/**
 * Serves a registry with one package, and with the package `hangs`, which never answers. `heard` lists the received
 * requests with their authorization keys.
 */
export function serveRegistry(name: string, version: string, tarball: string) {
  const bytes = readFileSync(tarball);
  const integrity = `sha512-${new Bun.CryptoHasher('sha512').update(bytes).digest('base64')}`;
  const heard: { path: string; authorization: string | null }[] = [];
  let wasAsked = () => undefined as void;
  const hangs = new Promise<void>((resolve) => (wasAsked = resolve));
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch(request) {
      const { pathname, origin } = new URL(request.url);
      heard.push({ path: decodeURIComponent(pathname), authorization: request.headers.get('authorization') });
      if (pathname.endsWith('.tgz')) return new Response(bytes);
      if (pathname === '/hangs') {
        wasAsked();
        return new Promise<Response>(() => undefined);
      }
      if (decodeURIComponent(pathname) !== `/${name}`) return new Response('{}', { status: 404 });
      const dist = { tarball: `${origin}/${name}/-/it.tgz`, integrity };
      return Response.json({
        name,
        'dist-tags': { latest: version },
        versions: { [version]: { name, version, dist } },
      });
    },
  });
  return { url: server.url.href, heard, hangs, stop: () => server.stop(true) };
}
