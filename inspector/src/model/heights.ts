// Heights of the rows of a list of which only those on the screen exist. Rows that were never on the screen have the estimated height.
//
// A binary indexed tree holds what the measured heights differ from the estimate by: setting one, the offset of a row and the row at an offset
// are O(log n), for a hundred thousand rows as for ten.

export class Heights {
  private tree: Float64Array
  private measured: Float32Array // NaN: not measured
  private capacity: number

  constructor(
    private length: number,
    readonly estimate: number,
  ) {
    this.capacity = Math.max(length, 1)
    this.tree = new Float64Array(this.capacity + 1)
    this.measured = new Float32Array(this.capacity).fill(Number.NaN)
  }

  get count(): number {
    return this.length
  }

  get(index: number): number {
    const height = this.measured[index]
    return height === undefined || Number.isNaN(height) ? this.estimate : height
  }

  // What the row has grown by.
  set(index: number, height: number): number {
    if (index < 0 || index >= this.length) return 0
    const grown = Math.fround(height) - this.get(index)
    this.measured[index] = height
    if (grown !== 0) this.add(index, grown)
    return grown
  }

  // The top of a row; of `length`, the height of all.
  offset(index: number): number {
    const end = Math.min(Math.max(index, 0), this.length)
    let sum = end * this.estimate
    for (let i = end; i > 0; i -= i & -i) sum += this.tree[i] ?? 0
    return sum
  }

  get total(): number {
    return this.offset(this.length)
  }

  // The row that lies at `y`; the first or last one beyond the ends. Of rows without height, the one that ends the stretch.
  find(y: number): number {
    if (this.length === 0) return 0
    let position = 0
    let rest = y
    let step = 1
    while (step * 2 <= this.capacity) step *= 2
    for (; step > 0; step >>= 1) {
      const next = position + step
      if (next > this.capacity) continue
      const height = (this.tree[next] ?? 0) + step * this.estimate
      if (height <= rest) {
        position = next
        rest -= height
      }
    }
    return Math.min(position, this.length - 1)
  }

  // Rows come or go at the end; those that stay keep their heights.
  resize(length: number): void {
    const kept = this.measured.slice(0, Math.min(length, this.length))
    this.length = length
    this.capacity = Math.max(length, 1)
    this.tree = new Float64Array(this.capacity + 1)
    this.measured = new Float32Array(this.capacity).fill(Number.NaN)
    this.measured.set(kept)
    // Every node hands its sum to the one above it: O(n).
    for (let i = 1; i <= length; ++i) {
      const height = this.measured[i - 1] ?? Number.NaN
      if (!Number.isNaN(height)) this.tree[i] = (this.tree[i] ?? 0) + height - this.estimate
      const above = i + (i & -i)
      if (above <= this.capacity) this.tree[above] = (this.tree[above] ?? 0) + (this.tree[i] ?? 0)
    }
  }

  private add(index: number, grown: number): void {
    for (let i = index + 1; i <= this.capacity; i += i & -i)
      this.tree[i] = (this.tree[i] ?? 0) + grown
  }
}
