/** Plain pages for a browser that has no access yet. */

/** Tells a person whose browser has no cookie what to do. */
export function askForLink(problem: string): Response {
  return page(
    `<p>${problem}</p>
<p>Open the link that <code>gdn studio</code> printed in its terminal. It has a token that lets this browser in.</p>`,
    { status: 401 },
  );
}

/** Redirects to Studio at once. The page does not stay in the browser's history. */
export function sendOn(headers: Readonly<Record<string, string>>): Response {
  return page('<meta http-equiv="refresh" content="0; url=/"><p><a href="/">Open Studio</a></p>', { headers });
}

function page(body: string, { status = 200, headers = {} }: { status?: number; headers?: Record<string, string> }) {
  const text = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Goondan Studio</title>
<h1>Goondan Studio</h1>${body}</html>
`;
  return new Response(text, { status, headers: { 'Content-Type': 'text/html; charset=utf-8', ...headers } });
}
