const post = async (path, body) => {
  const response = await fetch(`http://127.0.0.1:23181${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${process.env.DOOR_TOKEN}` },
    body: JSON.stringify(body),
  });
  return { status: response.status, ...(await response.json()) };
};

const message = { input: 'Wait a moment.', room: 'red', id: 'message-1' };
const { status, questions } = await post('/', message);
for (const { id, digest, reason, toolName, args } of questions) {
  console.log(status, reason, toolName, args);
  await post(`/questions/${id}`, { digest, decision: 'approved' });
}
console.log((await post('/', message)).response);
