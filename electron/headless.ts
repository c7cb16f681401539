// Entry in plain Node: the same app without a window. Its options are those of `hearth serve`.
import { main } from './cli/command';

const code = await main(['serve', ...process.argv.slice(2)]);
if (code !== undefined) process.exitCode = code;
