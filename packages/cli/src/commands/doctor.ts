import type { BundleOptions } from '../common-options.ts';
import type { Check } from '../doctor/check.ts';
import { exitCodes } from '../exit-codes.ts';
import type { GdnCommand } from '../gdn-command.ts';
import type { Colors } from '../colors.ts';

export function addDoctorCommand(program: GdnCommand): void {
  program
    .command('doctor')
    .summary('check what this machine has and what is missing')
    .description(
      'Checks everything that a swarm needs on this machine, and suggests how to add what is missing. It names ' +
        'keys but never shows them, and does not run the bundle. It also reads the images and files that conversations ' +
        'of the swarm name, and lists those that are missing or damaged. Exits with 3 when something essential is missing.',
    )
    .swarmOptions()
    .examples('gdn doctor')
    .runs(async (options: BundleOptions, { colors }) => {
      const { examine } = await import('../doctor/examine.ts');
      const checks = await examine(options);
      const healthy = checks.every(({ status }) => status !== 'missing');
      const text = `${checks.map((check) => describe(check, colors)).join('')}${summary(checks)}\n`;
      return { json: { healthy, checks }, text, code: healthy ? exitCodes.ok : exitCodes.setup };
    });
}

const WIDEST_STATUS = 'warning'.length;
const WIDEST_NAME = 'agent programs'.length;

function describe({ name, status, detail, suggestion }: Check, colors: Colors): string {
  const color = { ok: colors.green, warning: colors.yellow, missing: colors.red }[status];
  const start = `${color(status.padEnd(WIDEST_STATUS))}  ${name.padEnd(WIDEST_NAME)}  `;
  const indent = ' '.repeat(WIDEST_STATUS + WIDEST_NAME + 4);
  return `${start}${detail.replaceAll('\n', `\n${indent}`)}\n${suggestion === undefined ? '' : `${indent}${suggestion}\n`}`;
}

function summary(checks: readonly Check[]): string {
  const count = (wanted: Check['status']) => checks.filter(({ status }) => status === wanted).length;
  const [missing, warnings] = [count('missing'), count('warning')];
  if (missing > 0) return `\n${missing} missing: gdn cannot run a swarm here.`;
  if (warnings > 0) return `\nReady, with ${warnings === 1 ? 'a warning' : `${warnings} warnings`}.`;
  return '\nReady.';
}
