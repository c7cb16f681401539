// Other computers in three ways: models that are used there, models that are copied from there, and those of this one that others may copy.
import { FromHearth } from '../sharing/FromHearth';
import { Share } from '../sharing/Share';
import { RemoteEngines } from './RemoteEngines';

export function OtherComputers() {
  return (
    <>
      <RemoteEngines />
      <FromHearth />
      <Share />
    </>
  );
}
