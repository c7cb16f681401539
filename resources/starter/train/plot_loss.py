"""Draw the smoothed training loss. Usage: plot_loss.py LOG.jsonl OUT.svg
Owns: the picture in the card. Refuses: anything but the log that train.py wrote."""
import json
import sys

WIDTH, HEIGHT, LEFT, TOP, BOTTOM, HIGHEST = 640, 300, 44, 14, 34, 4.0


def main() -> None:
    rows = [r for r in map(json.loads, open(sys.argv[1])) if 'loss' in r]
    last, smooth, points = rows[-1]['step'], rows[0]['loss'], []
    for r in rows:
        smooth += 0.15 * (r['loss'] - smooth)
        x = LEFT + (WIDTH - LEFT - 12) * r['step'] / last
        y = HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(smooth, HIGHEST) / HIGHEST
        points.append(f'{x:.1f},{y:.1f}')
    grid = ''
    for value in range(int(HIGHEST) + 1):
        y = HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * value / HIGHEST
        grid += f'<line x1="{LEFT}" x2="{WIDTH - 12}" y1="{y}" y2="{y}" stroke="#e4e4e4"/><text x="36" y="{y + 4}" text-anchor="end">{value}</text>\n'
    open(sys.argv[2], 'w').write(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="11" fill="#444">\n'
        f'<rect width="100%" height="100%" fill="#fff"/>\n{grid}<polyline fill="none" stroke="#c8602a" stroke-width="1.5" points="{" ".join(points)}"/>\n'
        f'<text x="{WIDTH / 2}" y="{HEIGHT - 4}" text-anchor="middle">step, 0 to {last}</text><text x="50" y="24">training loss, smoothed</text></svg>\n')


if __name__ == '__main__':
    main()
