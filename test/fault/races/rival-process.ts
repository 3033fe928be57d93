/** The contestant in a process of its own. Argument: the connection string. Gets moves, and answers each. */
import { Contestant, type Move } from './contest.js';

const contestant = new Contestant(process.argv[2] as string);
process.on('message', ({ n, review, move }: { n: number; review: string; move: Move }) => {
  contestant.move(review, move).then(
    (ended) => process.send?.({ n, ended }),
    (error: Error) => process.send?.({ n, error: String(error.stack) }),
  );
});
process.on('disconnect', () => void contestant.close());
process.send?.({ n: -1 });
