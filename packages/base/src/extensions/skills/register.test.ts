import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { loadBundle } from '@goondan/runtime/bundle';
import type { JsonObject } from '@goondan/types';
import { SkillFinder } from './find-skills.ts';
import { parseSkill } from './parse-skill.ts';
import type { SkillsConfig } from './register.ts';
import { skillFolders } from './skill-folders.ts';
import { agentOpener, baseExtension } from '../../testing/base-extension.ts';
import { bundleWith } from '../../testing/bundle-with.ts';

const openAgent = agentOpener();

let folder = '';
beforeEach(() => void (folder = realpathSync(mkdtempSync(join(tmpdir(), 'gdn-skills-')))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): string {
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  writeFileSync(join(folder, path), text);
  return join(folder, path);
}

function writeSkill(path: string, { body = 'Say hello.', description = 'How to greet.' } = {}): void {
  const name = path.split('/').at(-1) ?? '';
  write(`${path}/SKILL.md`, `---\nname: ${name}\ndescription: ${description}\n---\n\n${body}\n`);
}

async function open(script: NonNullable<Parameters<typeof openAgent>[0]>['script'], config: SkillsConfig = {}) {
  // The copy is JSON, without `readonly`.
  const given = JSON.parse(JSON.stringify(config)) as JsonObject;
  return openAgent({
    script: script ?? [],
    workdir: join(folder, 'project'),
    bundleFolder: join(folder, 'bundle'),
    extensions: [baseExtension('skills', { user: false, ...given })],
  });
}

const openSkill = (name: string, more: object = {}) => ({ call: { tool: 'skills__open', args: { name, ...more } } });
const systemTexts = (tested: Awaited<ReturnType<typeof open>>) =>
  tested.requests.map(({ messages }) => messages.filter(({ role }) => role === 'system').map(({ content }) => content));

describe('skills', () => {
  test('B-01 the names and descriptions are in the description of skills__open, and in skills__list', async () => {
    writeSkill('bundle/.agents/skills/greeting');
    writeSkill('project/.claude/skills/billing', { description: 'How to send a bill.' });
    const tested = await open([
      { afterTool: 'skills__list', say: '{{result.skills.1.name}}' },
      { call: { tool: 'skills__list' } },
    ]);
    expect((await tested.say('go')).text).toBe('greeting');
    const offered = tested.requests[0]?.tools.find(({ name }) => name === 'skills__open');
    expect(offered?.description).toContain('- billing: How to send a bill.\n- greeting: How to greet.');
    expect(offered?.description).not.toContain('Say hello');
  });

  test('B-01 an open skill is an ephemeral message from the next step on, in the next turns too, and never in the history', async () => {
    writeSkill('bundle/.agents/skills/greeting');
    const tested = await open([
      { when: 'learn', ...openSkill('greeting') },
      { afterTool: 'skills__open', say: 'learnt' },
      { say: 'hello' },
    ]);
    await tested.say('learn');
    await tested.say('and now?');
    const shown = 'The skill "greeting" is open. Follow it where it applies.\n\nSay hello.';
    expect(systemTexts(tested)).toEqual([[], [shown], [shown]]);
    expect(JSON.stringify(await tested.messages())).not.toContain('Say hello.');
  });

  test('B-01 a closed one is not shown any more; with too many open, the oldest is closed', async () => {
    for (const name of ['a', 'b', 'c']) writeSkill(`bundle/.agents/skills/${name}`, { body: `This is ${name}.` });
    const tested = await open(
      [
        { when: 'open (?<which>\\w)', call: { tool: 'skills__open', args: { name: '{{which}}' } } },
        { when: 'close', call: { tool: 'skills__close', args: { name: 'c' } } },
        { afterTool: 'skills__open', say: 'ok' },
        { afterTool: 'skills__close', say: 'ok' },
        { say: 'ok' },
      ],
      { maxOpen: 2 },
    );
    for (const name of ['a', 'b', 'c']) await tested.say(`open ${name}`);
    expect(await tested.stateOf('skills')).toEqual({ open: ['b', 'c'] });
    await tested.say('close it');
    await tested.say('then');
    expect(JSON.stringify(systemTexts(tested).at(-1))).toEndWith('This is b."]');
  });

  test('files of a skill are listed and read, and nothing outside it', async () => {
    writeSkill('bundle/.agents/skills/greeting');
    write('bundle/.agents/skills/greeting/references/words.md', 'Ahoy');
    const secret = write('secret.txt', 'do not read');
    symlinkSync(secret, join(folder, 'bundle/.agents/skills/greeting/references/link.md'));
    const escapes = [
      '../../../../secret.txt',
      'references/link.md',
      secret,
      'references',
      'none.md',
      '../greeting/../../../../secret.txt',
    ];
    for (const file of escapes) {
      const tested = await open([
        { afterTool: 'skills__open', say: '{{result.error.code}}' },
        openSkill('greeting', { file }),
      ]);
      expect((await tested.say('go')).text).toBe('E_SKILL_FILE');
    }
    const tested = await open([
      { when: 'read', ...openSkill('greeting', { file: 'references/words.md' }) },
      { when: 'open', ...openSkill('greeting') },
      { afterTool: 'skills__open', say: '{{result.content}}{{result.files.0}}' },
    ]);
    expect((await tested.say('read')).text).toStartWith('Ahoy');
    expect((await tested.say('open')).text).toEndWith('references/words.md');
  });

  test('B-01 the next turn notices new, changed and removed skills', async () => {
    const tested = await open([{ say: 'ok' }]);
    const offered = () => tested.requests.at(-1)?.tools.find(({ name }) => name === 'skills__open')?.description ?? '';
    await tested.say('1');
    expect(offered()).toContain('There are no skills.');
    writeSkill('project/.goondan/skills/late');
    await tested.say('2');
    expect(offered()).toContain('- late: How to greet.');
    writeSkill('project/.goondan/skills/late', { description: 'Something longer than before.' });
    await tested.say('3');
    expect(offered()).toContain('- late: Something longer');
    rmSync(join(folder, 'project'), { recursive: true });
    await tested.say('4');
    expect(offered()).toContain('There are no skills.');
  });

  test('an unknown skill: the error lists the known ones', async () => {
    writeSkill('bundle/.agents/skills/greeting');
    const tested = await open([{ afterTool: 'skills__open', say: '{{result.error.message}}' }, openSkill('gretting')]);
    expect((await tested.say('go')).text).toBe('There is no skill "gretting". Skills: greeting.');
  });

  test('invalid and shadowed skills are reported once, and do not affect others', async () => {
    writeSkill('bundle/.agents/skills/greeting');
    writeSkill('project/.agents/skills/greeting', { body: 'Another.' });
    write('bundle/.agents/skills/broken/SKILL.md', 'no front matter');
    const tested = await open([{ say: 'ok' }]);
    await tested.say('1');
    await tested.say('2');
    const warnings = tested.logs
      .filter(({ level }) => level === 'warn')
      .map(({ message }) => message.slice(folder.length));
    expect(warnings).toEqual([
      '/bundle/.agents/skills/broken/SKILL.md: it does not begin with a front matter between two lines of ---',
      '/project/.agents/skills/greeting/SKILL.md: another skill "greeting" was found first',
    ]);
  });
});

describe('a SKILL.md', () => {
  const head = (fields: string) => `---\n${fields}\n---\nBody`;

  test.each([
    ['no front matter', 'Body', 'does not begin with a front matter'],
    ['no end', '---\nname: a\nBody', 'does not begin with a front matter'],
    ['no YAML', head('name: [a'), 'is not YAML'],
    ['a list', head('- a'), 'has no fields'],
    ['no name', head('description: d'), 'has no name'],
    ['another name', head('name: b\ndescription: d'), 'is not that of its folder, "a"'],
    ['a bad name', head('name: a--b\ndescription: d'), 'single hyphens'],
    ['capitals', head('name: A\ndescription: d'), 'lower-case'],
    ['no description', head('name: a'), 'has no description'],
    ['an empty description', head('name: a\ndescription: "  "'), 'has no description'],
    ['a long description', head(`name: a\ndescription: ${'x'.repeat(1_025)}`), 'more than 1024'],
    ['a long front matter', head(`name: a\ndescription: d\nx: ${'x'.repeat(17_000)}`), 'more than 16384'],
    ['deep nesting', head(`name: a\nx: ${'['.repeat(10_000)}`), 'is not YAML'],
  ])('with %s is rejected', (_, text, problem) => {
    expect(parseSkill(text, 'a')).toEqual({ problem: expect.stringContaining(problem) });
  });

  test('has a name, a description in any form of YAML, and a body; other fields are ignored', () => {
    const text =
      '---\r\nname: a\r\ndescription: >\r\n  folded\r\n  text\r\nlicense: MIT\r\nmetadata: { x: "1" }\r\n---\r\n# Hi\r\n---\r\nmore\r\n';
    expect(parseSkill(text, 'a')).toEqual({
      skill: { name: 'a', description: 'folded text', body: '# Hi\r\n---\r\nmore' },
    });
  });
});

describe('the config of spec 002 §3.3', () => {
  const seed = join(import.meta.dir, '../../../../../test/seeds/yaml/002-3-3.yaml');
  // The cast is safe: the file is the text of the spec.
  const resources = Bun.YAML.parse(readFileSync(seed, 'utf8')) as { spec: { config: SkillsConfig } }[];
  const config = resources[2]?.spec.config ?? {};

  test('B-01 discovery.repoSkillDirs is an alias of folders, and comes after them', async () => {
    expect(config).toEqual({ discovery: { repoSkillDirs: ['.agents/skills', 'skills'] } });
    writeSkill('bundle/skills/alias');
    writeSkill('bundle/skills/greeting', { description: 'From the alias.' });
    writeSkill('bundle/own/greeting', { description: 'From folders.' });
    const script = [{ afterTool: 'skills__list', say: '{{result.skills}}' }, { call: { tool: 'skills__list' } }];
    const described = async (given: SkillsConfig) => {
      const tested = await open(script, given);
      await tested.say('go');
      const offered = tested.requests.at(-1)?.tools.find(({ name }) => name === 'skills__open');
      return offered?.description ?? '';
    };
    expect(await described(config)).toContain('- alias: How to greet.\n- greeting: From the alias.');
    const both = await described({ ...config, folders: ['own'] });
    expect(both).toContain('- alias: How to greet.\n- greeting: From folders.');
    expect(await described({})).not.toContain('alias');
  });

  test('is accepted by the schema, and a misspelt name is not', async () => {
    const load = async (given: object) => {
      write('bundle/goondan.yaml', bundleWith('skills', JSON.stringify(given)));
      const { errors } = await loadBundle(join(folder, 'bundle'), { environment: {} });
      return errors.map(({ code, message }) => `${code} ${message}`);
    };
    expect(await load(config)).toEqual([]);
    expect(await load({ discovery: { repoSkillDir: ['skills'] } })).toEqual([expect.stringMatching(/^E_EXT_CONFIG /)]);
  });
});

describe('the folders', () => {
  test('take precedence in order: configured, the bundle, the project, the user; each once', () => {
    const places = { workdir: '/p', bundleFolder: '/b' };
    expect(skillFolders(places, ['skills', '/x'], true, '/h')).toEqual([
      '/b/skills',
      '/x',
      ...['/b', '/p', '/h'].flatMap((root) => ['.agents', '.goondan', '.claude'].map((own) => `${root}/${own}/skills`)),
    ]);
    expect(skillFolders({ ...places, workdir: '/b' }, [], false, '/h')).toHaveLength(3);
  });

  test('are not read again while nothing changes', () => {
    writeSkill('s/a');
    const finder = new SkillFinder();
    const [first] = finder.find([join(folder, 's')]).skills;
    const [second] = finder.find([join(folder, 's')]).skills;
    expect(second?.body).toBe(first?.body ?? 'none');
    writeSkill('s/a', { body: 'Something else.' });
    expect(finder.find([join(folder, 's')]).skills[0]?.body).toBe('Something else.');
  });
});
