import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;

/**
 * The rows of a table from its change feed: java -cp '<kafka>/libs/*' FoldFeed.java &lt;brokers&gt; &lt;topic&gt;
 *
 * <p>Reads a feed in the debezium envelope, encoding json, up to now and prints the rows that the table has, one JSON object a line.
 */
public class FoldFeed {
  private static final ObjectMapper JSON = new ObjectMapper();

  public static void main(String[] args) throws Exception {
    Map<String, Object> settings =
        Map.of(
            "bootstrap.servers", args[0],
            // Rows of transactions that were given up are not seen.
            "isolation.level", "read_committed",
            "enable.auto.commit", "false");
    Map<String, JsonNode> rows = new LinkedHashMap<>();
    try (var consumer = new KafkaConsumer<>(settings, new StringDeserializer(), new StringDeserializer())) {
      List<TopicPartition> partitions =
          consumer.partitionsFor(args[1]).stream().map(one -> new TopicPartition(one.topic(), one.partition())).toList();
      consumer.assign(partitions);
      consumer.seekToBeginning(partitions);
      Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
      while (partitions.stream().anyMatch(one -> consumer.position(one) < ends.get(one))) {
        for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(1))) {
          fold(rows, record);
        }
      }
    }
    for (JsonNode row : rows.values()) {
      System.out.println(JSON.writeValueAsString(row));
    }
  }

  /** What one record does to the rows, which are held by the text of their key. */
  private static void fold(Map<String, JsonNode> rows, ConsumerRecord<String, String> record) throws Exception {
    if (record.value() == null) {
      return; // A tombstone: the delete before it told all that there is.
    }
    JsonNode event = JSON.readTree(record.value());
    if (event.get("op").asText().equals("d")) {
      rows.remove(record.key());
    } else {
      rows.put(record.key(), event.get("after"));
    }
  }
}
