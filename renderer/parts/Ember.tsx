// The small ember that breathes while something is going on.
import './ember.css';

export function Ember() {
  return <span className="ember" aria-hidden />;
}
