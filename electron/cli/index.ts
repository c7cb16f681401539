// Entry of the `hearth` command.
import { main } from './command';

const code = await main(process.argv.slice(2));
// Not process.exit(): what a pipe has not taken yet would be lost.
if (code !== undefined) process.exitCode = code;
