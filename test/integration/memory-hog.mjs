// Takes as many bytes of memory as its argument says and writes on every page, so that the system must give them; says so, and waits.
const bytes = Number(process.argv[2]);
const PIECE = 64 * 1024 ** 2;
const held = [];
for (let left = bytes; left > 0; left -= PIECE) held.push(Buffer.alloc(Math.min(PIECE, left), 1));
process.send?.({ held: held.length });
process.on('disconnect', () => process.exit(0));
setInterval(() => held.forEach((piece) => (piece[0] += 1)), 60_000);
