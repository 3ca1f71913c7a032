import type { QuestionView } from '@goondan/cli/studio';
import { showText } from '../text/show-text.ts';
import { AnswerBar } from './answer-bar.tsx';
import { readPage } from './read-page.ts';
import type { Answering } from './use-answer.ts';

/** Shows the address of a page, such as a sign-in, with its host, and a link that gives the page no access to this one. */
export function PageQuestion({
  question: { url = '' },
  answering,
}: {
  readonly question: QuestionView;
  readonly answering: Answering;
}) {
  const page = readPage(url);
  return (
    <>
      {page === undefined ? (
        <p className="bad">This address cannot be opened from here:</p>
      ) : (
        <p>
          <a href={page.href} target="_blank" rel="noopener noreferrer">
            Open the page of <strong>{page.host}</strong>
          </a>{' '}
          in a new tab. Continue there only if you know this host.
        </p>
      )}
      <pre>{showText(page?.href ?? url)}</pre>
      <AnswerBar kind="page" answering={answering} yes={page === undefined ? 'none' : 'button'} />
    </>
  );
}
