// What a terminal would colour. Sixteen colours, which the style sheet makes legible on every ground: of the others the nearest.
// Colours and movements of the cursor are removed from the text; every other escape is shown as a
// sign, so nothing is hidden.

export interface Painted {
  text: string
  ink: number | null // 0…15
  ground: number | null
  bold: boolean
  dim: boolean
  italic: boolean
  underlined: boolean
  inverted: boolean
  struck: boolean
}
type Style = Omit<Painted, 'text'>

const bare: Style = {
  ink: null,
  ground: null,
  bold: false,
  dim: false,
  italic: false,
  underlined: false,
  inverted: false,
  struck: false,
}

// eslint-disable-next-line no-control-regex
const sequence = /\u001b\[([\d;:]{0,64})([A-HJKSTfhlmnsu])|\u001b\[\?[\d;]{0,64}[hl]/g
export const hasColours = (text: string): boolean => /\u001b\[[\d;:]*m/.test(text)

export function painted(text: string): Painted[] {
  const found: Painted[] = []
  let style = bare
  let end = 0
  const add = (plain: string) => {
    if (plain) found.push({ text: plain.replaceAll('\u001b', '␛'), ...style })
  }
  for (const match of text.matchAll(sequence)) {
    add(text.slice(end, match.index))
    end = match.index + match[0].length
    if (match[2] === 'm') style = styled(style, match[1] ?? '')
  }
  add(text.slice(end))
  return found
}

function styled(style: Style, codes: string): Style {
  const numbers = codes.split(/[;:]/).map(Number)
  let next = { ...style }
  for (let i = 0; i < numbers.length; ++i) {
    const n = numbers[i] ?? 0
    if (n === 38 || n === 48) {
      const [colour, used] = extended(numbers.slice(i + 1, i + 5))
      if (n === 38) next.ink = colour
      else next.ground = colour
      i += used
    } else if (n === 0) next = { ...bare }
    else next = { ...next, ...simple(n) }
  }
  return next
}

function simple(n: number): Partial<Style> {
  if (n >= 30 && n <= 37) return { ink: n - 30 }
  if (n >= 40 && n <= 47) return { ground: n - 40 }
  if (n >= 90 && n <= 97) return { ink: n - 82 }
  if (n >= 100 && n <= 107) return { ground: n - 92 }
  switch (n) {
    case 1:
      return { bold: true }
    case 2:
      return { dim: true }
    case 3:
      return { italic: true }
    case 4:
    case 21:
      return { underlined: true }
    case 7:
      return { inverted: true }
    case 9:
      return { struck: true }
    case 22:
      return { bold: false, dim: false }
    case 23:
      return { italic: false }
    case 24:
      return { underlined: false }
    case 27:
      return { inverted: false }
    case 29:
      return { struck: false }
    case 39:
      return { ink: null }
    case 49:
      return { ground: null }
    default:
      return {} // blinking and hiding among them
  }
}

// Behind 38 and 48: 5;N of 256, or 2;R;G;B. How many numbers it is made of.
function extended(numbers: number[]): [number | null, number] {
  const [kind, a = 0, b = 0, c = 0] = numbers
  if (kind === 2) return [nearest(a, b, c), 4]
  if (kind !== 5) return [null, 0]
  if (a < 16) return [a, 2]
  if (a >= 232) return [nearest((a - 232) * 10 + 8, (a - 232) * 10 + 8, (a - 232) * 10 + 8), 2]
  const step = (n: number) => (n === 0 ? 0 : 55 + 40 * n)
  const cube = a - 16
  return [nearest(step(Math.floor(cube / 36)), step(Math.floor(cube / 6) % 6), step(cube % 6)), 2]
}

// One bit for each of red, green and blue, as the sixteen are numbered; and whether it is bright.
function nearest(red: number, green: number, blue: number): number {
  const most = Math.max(red, green, blue)
  if (most - Math.min(red, green, blue) < 32)
    return most < 64 ? 0 : most < 160 ? 8 : most < 224 ? 7 : 15
  const bit = (part: number) => (part > most * 0.6 ? 1 : 0)
  return bit(red) + 2 * bit(green) + 4 * bit(blue) + (most > 200 ? 8 : 0)
}
