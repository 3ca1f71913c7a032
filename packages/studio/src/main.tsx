import { createRoot } from 'react-dom/client';

const place = document.getElementById('studio');
if (place !== null) createRoot(place).render(<h1>Goondan Studio</h1>);
