// Loaded into a process with `--import`: each of its threads collects its garbage once a second. What V8 would keep for later hides a
// leak, or looks like one.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
setInterval(runInNewContext('gc'), 1000).unref();
