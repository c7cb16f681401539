// Very long text without structure, as it came, in pieces that are not drawn again while it grows.
import { memo } from 'react';

const PIECE = 4000;

export function PlainBlock({ text }: { text: string }) {
  const pieces: string[] = [];
  for (let at = 0; at < text.length; at += PIECE) pieces.push(text.slice(at, at + PIECE));
  return (
    <p className="md-plain" dir="auto">
      {pieces.map((piece, index) => (
        <Piece key={index} text={piece} />
      ))}
    </p>
  );
}

const Piece = memo(function Piece({ text }: { text: string }) {
  return <span>{text}</span>;
});
