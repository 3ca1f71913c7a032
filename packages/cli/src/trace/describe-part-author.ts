import type { PartAuthor } from '@goondan/runtime/history';
import { describeAuthor } from '../history/describe-author.ts';

/** Names who put a part of a model request there: `person via cli`, `Tool/weather, changed by extension guard`, … */
export function describePartAuthor(author: PartAuthor): string {
  switch (author.kind) {
    case 'prompt':
      return `system prompt of agent ${author.agent}`;
    case 'conversation':
      return describeAuthor(author.author);
    case 'layer': {
      const { extension, name, kind } = author.layer;
      const layer = `extension ${extension} (${name === kind ? '' : `${name}, `}${kind} layer)`;
      return author.offeredBy === undefined ? layer : `${author.offeredBy}, changed by ${layer}`;
    }
    case 'tool':
      return author.offeredBy;
    case 'model':
      return author.ref;
    case 'provider':
      return `default for ${author.name}`;
    case 'extension':
    case 'agent':
      return `${author.kind} ${author.name}`;
    case 'runtime':
    case 'unknown':
      return author.kind;
  }
}
