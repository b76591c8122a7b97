package dev.baton.chaos.report;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.baton.chaos.checker.Judge;
import dev.baton.chaos.checker.Verdict;
import dev.baton.chaos.history.History;
import dev.baton.chaos.history.HistoryReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The folder of one chaos run: {@code history.jsonl}, {@code verdict.json}, {@code index.html},
 * {@code logs}.
 */
public final class ReportFolder {
  private final Path path;

  public ReportFolder(Path path) {
    this.path = path;
  }

  public Path path() {
    return path;
  }

  public Path history() {
    return path.resolve("history.jsonl");
  }

  /** Judges the history, and writes the verdict and the page. */
  public Verdict judge() throws IOException {
    History history = HistoryReader.read(history());
    Verdict verdict = Judge.judge(history);
    JsonMapper.builder()
        .build()
        .writerWithDefaultPrettyPrinter()
        .writeValue(path.resolve("verdict.json").toFile(), verdict);
    Files.writeString(path.resolve("index.html"), Page.of(history, verdict));
    return verdict;
  }
}
