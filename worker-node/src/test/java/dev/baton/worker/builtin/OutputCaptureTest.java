package dev.baton.worker.builtin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.core.json.JsonWriteFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;

class OutputCaptureTest {
  private static final String MARKER = "[end]";

  @Test
  void shouldKeepEverythingThatFits() throws IOException {
    OutputCapture.Text text = capture("head-tail", 4, 5).text(4, 5);
    assertEquals("head-tail", text.text());
    assertFalse(text.cut());
  }

  @Test
  void shouldKeepBeginningAndEnd() throws IOException {
    OutputCapture.Text text = capture("0123456789", 4, 5).text(4, 5);
    assertEquals("0123\n[... cut: the stream had 10 bytes ...]\n56789", text.text());
    assertTrue(text.cut());
    String large = "a".repeat(100_000) + "b".repeat(100_000);
    assertEquals(
        "a".repeat(10) + "\n[... cut: the stream had 200000 bytes ...]\n" + "b".repeat(20),
        capture(large, 10, 20).text(10, 20).text());
  }

  @Test
  void shouldCountBytesAsTheyStandInJson() throws Exception {
    OutputCapture.Text zeros = capture("\0".repeat(1000), 60, 60).text(60, 60);
    assertTrue(zeros.cut());
    assertEquals(20, zeros.text().chars().filter(c -> c == 0).count());
    String sample = "a\"\\\n\r\t\b\f\u0001\u001fé€😀\u007f";
    assertEquals(
        JsonMapper.builder()
                .enable(JsonWriteFeature.COMBINE_UNICODE_SURROGATES_IN_UTF8)
                .build()
                .writeValueAsBytes(sample)
                .length
            - 2,
        OutputCapture.encodedLength(sample));
  }

  @Test
  void shouldCutBetweenCharacters() throws IOException {
    String text = capture("€".repeat(1000), 10, 10).text(10, 10).text();
    assertEquals("€€€\n[... cut: the stream had 3000 bytes ...]\n€€€", text);
  }

  @Test
  void shouldReplaceWhatIsNotUtf8() throws IOException {
    OutputCapture capture = new OutputCapture(MARKER, 10, 10);
    capture.read(new ByteArrayInputStream(new byte[] {'a', (byte) 0xff, 'b'}));
    assertEquals("a\ufffdb", capture.text(10, 10).text());
  }

  @Test
  void shouldStopAtTheMarkerThoughTheStreamGoesOn() throws IOException {
    PipedOutputStream out = new PipedOutputStream();
    InputStream in = new PipedInputStream(out);
    out.write(("done" + MARKER).getBytes(StandardCharsets.US_ASCII));
    OutputCapture capture = new OutputCapture(MARKER, 10, 10);
    capture.read(in);
    assertEquals("done", capture.text(10, 10).text());
  }

  @Test
  void shouldFindTheMarkerHoweverItIsSplit() throws IOException {
    Random random = new Random(1);
    for (int round = 0; round < 300; round++) {
      String text = "x[en".repeat(random.nextInt(30));
      byte[] bytes = (text + MARKER + "after").getBytes(StandardCharsets.US_ASCII);
      OutputCapture capture = new OutputCapture(MARKER, 50, 100);
      capture.read(
          new ByteArrayInputStream(bytes) {
            @Override
            public int read(byte[] into, int offset, int length) {
              return super.read(into, offset, Math.min(length, 1 + random.nextInt(4)));
            }
          });
      assertEquals(text, capture.text(50, 100).text());
    }
  }

  private static OutputCapture capture(String text, int head, int tail) throws IOException {
    OutputCapture capture = new OutputCapture(MARKER, head, tail);
    capture.read(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
    return capture;
  }
}
