/**
 * Reads one YAML file of a bundle: its documents as JSON, and all faults with their places. Nothing in the file is
 * executed.
 */
import { Composer, type Document, LineCounter } from 'yaml';
import { errorAt, type Finding } from '../bundle-problem.ts';
import type { SourceDocument } from '../place.ts';
import { offsetOf } from './position-tree.ts';
import { YamlConverter, type YamlFault } from './to-json-value.ts';
import { tokenize } from './tokenize.ts';

/** Options for YAML 1.2. Our own code checks that keys are texts and occur once. */
const composing = {
  version: '1.2',
  schema: 'core',
  resolveKnownTags: false,
  stringKeys: true,
  merge: false,
  // The library compares each key with all others, which can take hours for a hostile file.
  uniqueKeys: false,
  logLevel: 'silent',
} as const;

export function readYaml(text: string, file: string) {
  const lines = new LineCounter();
  const findings: Finding[] = [];
  const report = ({ code, offset, message, suggestion }: YamlFault) =>
    void findings.push(errorAt(placeAt(offset), code, message, suggestion));

  const { tokens, refusal } = tokenize(text, lines);
  if (refusal !== undefined) report({ code: 'E_YAML_LIMIT', ...refusal });
  for (const token of tokens) {
    if (token.type === 'directive') report(directiveFault(token.offset));
  }
  const documents: SourceDocument[] = [];
  const converter = new YamlConverter();
  for (const document of new Composer(composing).compose(tokens)) {
    const read = readDocument(document, converter);
    read.faults.forEach(report);
    // A document between two separators may be empty.
    if (read.value !== null || read.faults.length > 0) documents.push(sourceDocument(read));
  }
  if (refusal !== undefined) {
    const faults: YamlFault[] = [{ code: 'E_YAML_LIMIT', ...refusal }];
    documents.push(sourceDocument({ value: null, positions: { value: refusal.offset }, faults, isUnreadable: true }));
  }
  return { documents, findings };

  function sourceDocument({ value, positions, faults, isUnreadable }: ReturnType<typeof readDocument>): SourceDocument {
    const placeOf: SourceDocument['placeOf'] = (path, part = 'value') => placeAt(offsetOf(positions, path, part));
    return { value, isBroken: faults.length > 0, isUnreadable, file, placeOf };
  }

  function placeAt(offset: number) {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  }
}

function readDocument(document: Document.Parsed, converter: YamlConverter) {
  const syntax = [...document.errors, ...document.warnings].map(({ pos, message }): YamlFault => {
    return { code: 'E_YAML_SYNTAX', offset: pos[0], message: `${message.replace(/[.\s]+$/, '')}.` };
  });
  const { value, positions, faults } = converter.toJsonValue(document);
  // After a rejected key or value the rest is still known. After another fault, even the shape may be another one.
  const isUnreadable = syntax.length > 0 || faults.some(({ code }) => code === 'E_YAML_LIMIT');
  return { value, positions, faults: [...firstOfEachPlace(syntax), ...faults], isUnreadable };
}

/** Keeps one fault for each place, because the library often reports two for one mistake. */
function firstOfEachPlace(faults: readonly YamlFault[]): YamlFault[] {
  const seen = new Set<number>();
  return faults.filter(({ offset }) => !seen.has(offset) && seen.add(offset));
}

function directiveFault(offset: number): YamlFault {
  return {
    code: 'E_YAML_SYNTAX',
    offset,
    message: 'Directives (%YAML, %TAG) are not supported.',
    suggestion: 'Remove the line.',
  };
}
