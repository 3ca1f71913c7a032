#!/usr/bin/env node
/**
 * Runs a command of `package.json` that has variants: `npm run torture -- journal --points 100` is the variant `journal`
 * of `torture`, with the other arguments. Without the name of a variant, `default` runs.
 *
 * The commands of a variant run one after the other, until one fails. The last one gets the arguments. A default of
 * several commands takes only options, so that a mistyped variant does not run it.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const commands = {
  verify: {
    default: ['npm run format -- --check', 'npm run lint', 'npm run types', 'npm test', 'npm run examples'],
    quick: ['node scripts/verify-quick.mjs'],
  },
  write: {
    default: ['bun scripts/write-pages.ts', 'bun fmt packages/runtime/schema'],
    screenshots: ['bun scripts/take-screenshots.ts'],
    demo: ['bun scripts/draw-demo.ts'],
  },
  pack: {
    default: ['npm run build', 'bun scripts/pack-packages.ts'],
    release: ['bun scripts/check-release.ts', 'npm run build', 'bun scripts/pack-packages.ts'],
  },
  proof: {
    default: ['env GOONDAN_SAMPLES=all npm test', 'bun scripts/torture-journal.ts --from 1000 --points 20000'],
    cluster: ['bun scripts/proof-cluster.ts'],
    conformance: ['bun scripts/conformance.ts'],
  },
  torture: {
    default: ['bun scripts/torture.ts'],
    journal: ['bun scripts/torture-journal.ts'],
    sqlite: ['bun scripts/torture-sqlite.ts'],
    cluster: ['bun scripts/torture-cluster.ts'],
    mutants: ['bun scripts/torture-mutants.ts'],
  },
  bench: {
    default: ['bun bench/run.ts'],
    peers: ['bun bench/peers/run.ts'],
  },
};

const [name = '', ...given] = process.argv.slice(2);
const variants = commands[name];
if (variants === undefined) {
  process.stderr.write(
    `Usage: node scripts/run-variant.mjs ${Object.keys(commands).join('|')} [VARIANT] [arguments]\n`,
  );
  process.exit(2);
}
const [first = ''] = given;
const isNamed = Object.hasOwn(variants, first);
if (!isNamed && variants.default.length > 1 && /^[^-]/.test(first)) {
  const known = Object.keys(variants).filter((variant) => variant !== 'default');
  process.stderr.write(`\`npm run ${name}\` has no variant "${first}"; there are ${known.join(', ')}.\n`);
  process.exit(2);
}
const chosen = isNamed ? variants[first] : variants.default;
const rest = isNamed ? given.slice(1) : given;

const repository = fileURLToPath(new URL('..', import.meta.url));
for (const [index, command] of chosen.entries()) {
  const [program = '', ...args] = command.split(' ');
  const all = index === chosen.length - 1 ? [...args, ...rest] : args;
  const { status, error } = spawnSync(program, all, { cwd: repository, stdio: 'inherit' });
  if (error) process.stderr.write(`${program} cannot be started: ${error.message}\n`);
  if (status !== 0) process.exit(status ?? 1);
}
