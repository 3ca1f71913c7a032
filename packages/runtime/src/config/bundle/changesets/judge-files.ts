/** Judges the edited files: each must be a file that agents may write, and no file of an existing part. */
import { posix } from 'node:path';
import { foldPath } from '../../../workspace/changesets/find-path-problem.ts';
import type { RecordedEdit } from '../../../workspace/changesets/changeset-record.ts';
import { moduleLoaders } from '../files/scan-module.ts';
import { type BundleState, type JudgedChange, newNames } from './judged-change.ts';
import { notCreated } from './judge-resources.ts';
import { findReader, findUse, listNamedFolders } from './used-files.ts';

export function* judgeFiles(change: JudgedChange): Generator<string> {
  const rules = openRules(change);
  const spelling = spellingsOf(change.before.files);
  for (const edit of change.edits) {
    const { path } = edit;
    const clash = findClash(path, spelling);
    const use = findUse(path, change.used);
    if (clash !== undefined)
      yield `${path} differs from ${clash} only in spelling, and some systems take them for one file.`;
    else if (use !== undefined) yield `${path} ${use}.`;
    else yield* judgeFile(edit, change, rules);
  }
}

type Rules = ReturnType<typeof openRules>;

/** Collects the files that agents may write, by the reason. */
function openRules(change: JudgedChange) {
  const { before, after, addedTools } = change;
  const newTools = newNames(change, 'Tool');
  const newExtensions = newNames(change, 'Extension');
  const isOfTool = ({ kind, name }: { readonly kind: string; readonly name: string }) =>
    kind === 'Tool'
      ? newTools.includes(name) || addedTools.includes(name)
      : kind === 'Extension' && newExtensions.includes(name);
  const code = [...before.resources, ...after.resources].filter(isOfTool).flatMap(({ files = [] }) => files);
  return {
    yamlBefore: yamlOf(before),
    yamlAfter: yamlOf(after),
    promptsBefore: promptsOf(before),
    promptsAfter: promptsOf(after),
    code: new Set(code),
    importNames: importNamesOf(change),
  };
}

function* judgeFile({ path }: RecordedEdit, change: JudgedChange, rules: Rules): Generator<string> {
  const { before, addedFiles } = change;
  const isNew = !before.files.has(path);
  const isOwn = isNew || addedFiles.includes(path);
  const rival = isNew ? findRival(path, rules.importNames) : undefined;
  if (rival !== undefined) return yield `${path} could be imported in place of ${rival}. Choose another name.`;
  const isSkill = isOfSkill(path, isOwn, change);
  const named = listNamedFolders(path, change.used).find(
    ({ folder }) => !isSkill || !holdsSkills(folder, before.files),
  );
  if (named !== undefined)
    return yield `${path} is in the folder ${named.folder}, which the settings of ${named.identity} name, so no changeset may change it.`;
  if (isNew ? rules.yamlAfter.has(path) : rules.yamlBefore.has(path)) return;
  const isPrompt = rules.promptsBefore.has(path) || (isOwn && rules.promptsAfter.has(path));
  if (isPrompt || isSkill) {
    const reader = findReader(path, isNew, change.used);
    if (reader !== undefined)
      yield `${path} is named in ${reader}, which probably reads it, so no changeset may change it.`;
    if (isPrompt && isNew && !/\.(?:md|txt)$/.test(path))
      yield `${path} must end with .md or .txt, as every new prompt file.`;
    return;
  }
  if (!rules.code.has(path)) yield notWritable(path);
  else if (!isOwn) yield notCreated(path);
}

function notWritable(path: string): string {
  return (
    `${path} is not a file that a changeset may change. Permitted are YAML files with resources, prompts of agents, files ` +
    'of skills, and the code of new tools and extensions.'
  );
}

function yamlOf({ resources }: BundleState): Set<string> {
  return new Set(resources.map(({ document }) => document.file));
}

function promptsOf({ resources }: BundleState): Set<string> {
  return new Set(
    resources.flatMap((loaded) => {
      const systemRef = loaded.kind === 'Agent' ? loaded.resource.spec.prompt?.systemRef : undefined;
      return systemRef === undefined ? [] : [posix.normalize(systemRef)];
    }),
  );
}

/**
 * Returns true for a file of a skill: a folder with a `SKILL.md`. A `SKILL.md` that is new makes a skill only of files that
 * changesets created, because otherwise it would open any folder for edits.
 */
function isOfSkill(path: string, isOwn: boolean, { before, after, addedFiles }: JudgedChange): boolean {
  for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder)) {
    const mark = `${folder}/SKILL.md`;
    if (before.files.has(mark)) {
      if (isOwn || !addedFiles.includes(mark)) return true;
    } else if (isOwn && after.files.has(mark) && isFresh(folder, before.files, addedFiles)) return true;
  }
  return false;
}

/** Returns true for a folder of skills, which the settings of an extension for skills name. */
function holdsSkills(folder: string, files: ReadonlySet<string>): boolean {
  return [...files].some((file) => foldPath(file).startsWith(`${folder}/`) && posix.basename(file) === 'SKILL.md');
}

function isFresh(folder: string, files: ReadonlySet<string>, addedFiles: readonly string[]): boolean {
  return [...files].every((file) => !file.startsWith(`${folder}/`) || addedFiles.includes(file));
}

/** The spelling of each existing file and folder, by its folded path. */
function spellingsOf(files: ReadonlySet<string>): Map<string, string> {
  const spellings = new Map<string, string>();
  for (const file of files) for (const path of withFolders(file)) spellings.set(foldPath(path), path);
  return spellings;
}

function findClash(path: string, spellings: ReadonlyMap<string, string>): string | undefined {
  for (const each of withFolders(path)) {
    const known = spellings.get(foldPath(each));
    if (known !== undefined && known !== each) return known;
  }
  return undefined;
}

function* withFolders(path: string): Generator<string> {
  for (let each = path; each !== '.'; each = posix.dirname(each)) yield each;
}

/** The existing files by the names under which modules may import them. */
function importNamesOf({ before, addedFiles }: JudgedChange): Map<string, string> {
  const files = [...before.files].filter((file) => isImportable(file) && !addedFiles.includes(file));
  return new Map(files.flatMap((file) => importNames(file).map((name): [string, string] => [name, file])));
}

/** Finds an existing file that an import without its ending may mean instead of this new file. */
function findRival(path: string, names: ReadonlyMap<string, string>): string | undefined {
  if (!isImportable(path)) return undefined;
  return importNames(path).flatMap((name) => names.get(name) ?? [])[0];
}

function isImportable(path: string): boolean {
  const ending = posix.extname(path);
  return ending === '' || ending === '.json' || Object.hasOwn(moduleLoaders, ending);
}

/** Lists the paths by which an import may name a file. */
function importNames(path: string): string[] {
  const names = [path, path.replace(/\.[^./]+$/, '')];
  return [...names, ...names.map((name) => name.replace(/(?:^|\/)index$/, ''))];
}
